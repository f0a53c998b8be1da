// What every family of the catalogue promises, whichever abilities its models have.
#include <filesystem>
#include <map>
#include <set>

#include "fovea/base/threads.h"
#include "fovea/kernels/unit.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/sentences.h"
#include "fovea/models/variants.h"
#include "fovea/nn/golden.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

std::vector<Variant> all_variants() {
  return variants([](const Abilities&) { return true; });
}
std::vector<Variant> generators() {
  return variants([](const Abilities& a) { return a.generates; });
}

auto name_of = [](const auto& info) { return info.param.name; };

class EveryFamily : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Models, EveryFamily, testing::ValuesIn(all_variants()), name_of);

Tensor pictures(const PictureShape& s, int64_t count) {
  return normal({count, s.channels, s.height, s.width}, Random(3));
}

// What a model says about a batch, by whatever it can do.
Tensor answer_of(const Model& model, const Sentences& s, const Context& c = {}) {
  const int64_t batch = s.source.ids.size(0);
  if (const auto* encoder = can<PictureEncoder>(model)) {
    const PictureShape shape = encoder->picture_shape();
    if (const auto* writer = can<Generator>(model))
      return writer->logits({.pixels = pictures(shape, s.inputs.size(0))}, s.inputs, c);
    const Tensor pixels = pictures(shape, 2);
    const auto* labeller = can<PictureLabeller>(model);
    return labeller ? labeller->picture_logits(pixels, c) : encoder->encode_pictures(pixels, c);
  }
  if (const auto* writer = can<Generator>(model))
    return writer->logits(can<Encoder>(model) || can<Listener>(model) ? s.source : Source{}, s.inputs, c);
  if (const auto* labeller = can<TextLabeller>(model)) return labeller->logits(s.source, c);
  if (const auto* labeller = can<TokenLabeller>(model)) return labeller->token_logits(s.source, c);
  if (const auto* finder = can<AnswerFinder>(model)) return finder->edge_logits(s.source, c);
  if (const auto* filler = can<GapFiller>(model))
    return filler->gap_logits(
        s.source, batch == 1 ? tensor({1}, std::vector<int64_t>{4}) : tensor({3}, std::vector<int64_t>{0, 17, 36}), c);
  if (const auto* encoder = can<Encoder>(model)) return encoder->encode(s.source, c);
  Tensor characters = Sentences::ids({batch, 17, 5}, 4);
  for (int64_t i = 0; i < characters.elements(); ++i) characters.data<int64_t>()[i] -= 2;
  const SpelledWords words = {s.source.ids, s.source.lengths, characters, full({batch, 17}, 3, DType::i64)};
  return as<WordLabeller>(model).scores(words, c);
}

// In the order in which they run, with their heads, and as many rows and columns as their sequences have tokens.
TEST_P(EveryFamily, ItsPlacesAreWhatAFullTraceRecords) {
  const auto model = GetParam().make();
  Sentences s;  // the one of 17 tokens: models that pack their texts have one row and column for each token of all
  s.source = s.alone(2);
  s.source.lengths = tensor({1}, std::vector<int64_t>{17});
  s.inputs = s.inputs.slice(0, 2, 3).contiguous();
  Trace trace;
  answer_of(*model, s, {.trace = &trace});
  const auto* pictures = can<PictureEncoder>(*model);
  const PictureShape cut = pictures ? pictures->picture_shape() : PictureShape();
  const std::map<std::string, int64_t> tokens = {
      {"source", 17}, {"target", 19}, {"prefix", 19},
      {"text", 19},   {"label", 1},   {"patches", cut.extra + cut.patches_down * cut.patches_across},
      {"frames", 9}};  // two become one
  std::set<std::string> listed;
  for (const Place& place : model->places()) {
    SCOPED_TRACE(place.path);
    EXPECT_TRUE(listed.insert(place.path).second);
    ASSERT_TRUE(trace.results().contains(place.path));
    const Tensor w = joined_weights(trace.results().at(place.path));
    const int64_t batch = pictures && !can<Generator>(*model) ? 2 : 1;
    EXPECT_EQ(w.shape(), Shape({batch, place.heads, tokens.at(place.rows), tokens.at(place.columns)}));
    EXPECT_TRUE(place.key_heads > 0 && place.heads % place.key_heads == 0);
    EXPECT_EQ(place.kind == Place::Kind::pooling, place.rows == "label");
    EXPECT_EQ(place.kind == Place::Kind::cross || place.kind == Place::Kind::pointer,
              place.rows == "target" && place.columns != "prefix");
    const double future = sum(w.select(2, 0).slice(-1, 1, w.size(3))).item();
    EXPECT_EQ(place.causal, future == 0) << "the first row sees " << future << " of what comes behind it";
  }
  EXPECT_EQ(listed.size(), trace.results().size());
}

TEST_P(EveryFamily, SavedAndLoadedHasTheSameBits) {
  const auto model = GetParam().make();
  const auto folder = std::filesystem::path(testing::TempDir()) / ("fovea_family_" + GetParam().name);
  std::filesystem::remove_all(folder);
  save_model(folder, *model);
  const auto loaded = load_model(folder);
  EXPECT_EQ(loaded->config(), model->config());
  EXPECT_EQ(loaded->family(), GetParam().family->name);
  EXPECT_EQ(loaded->vocabulary(), can<PictureEncoder>(*model) && !can<Generator>(*model) ? 0 : 11);
  EXPECT_TRUE(same_bits(answer_of(*loaded, {}), answer_of(*model, {})));
  std::filesystem::remove_all(folder);
}

// bf16 has the bits of a model whose matrices were rounded, but for tiles, which round more; what is written packed is what was in memory.
TEST_P(EveryFamily, PackedInAnyPrecisionItIsTheSameModel) {
  const auto model = GetParam().make();
  const auto folder = std::filesystem::path(testing::TempDir()) / ("fovea_packed_" + GetParam().name);
  const Tensor plain = answer_of(*model, {});
  for (Precision precision : {Precision::f32, Precision::bf16, Precision::int8}) {
    SCOPED_TRACE(std::string(name(precision)));
    std::filesystem::remove_all(folder);
    save_model(folder, *model);
    const auto loaded = load_model(folder, {.precision = precision});
    const Tensor found = answer_of(*loaded, {});
    if (precision == Precision::f32) EXPECT_TRUE(same_bits(found, plain));
    if (precision == Precision::bf16 && kernels::unit_of(precision) == kernels::Unit::vectors) {
      const auto rounded = GetParam().make();
      load(*rounded, save(*loaded));
      EXPECT_TRUE(same_bits(found, answer_of(*rounded, {})));
    }
    const auto folder_of = folder / "packed";
    save_model(folder_of, *loaded, {.packed = true});
    EXPECT_TRUE(same_bits(answer_of(*load_model(folder_of), {}), found));
    EXPECT_EQ(load_model(folder_of)->config(), model->config());
    EXPECT_THROW(load_model(folder_of, {.learns = true}), Error);
    if (precision != Precision::bf16) EXPECT_THROW(load_model(folder_of, {.precision = Precision::bf16}), Error);
  }
  std::filesystem::remove_all(folder);
}

TEST_P(EveryFamily, SameBitsForAnyThreadCount) {
  const auto model = GetParam().make();
  const int before = threads();
  set_threads(1);
  const Tensor one = answer_of(*model, {});
  set_threads(3);
  const Tensor three = answer_of(*model, {});
  set_threads(before);
  EXPECT_TRUE(same_bits(one, three));
}

TEST_P(EveryFamily, ItHasTheAbilitiesThatItsFamilyNames) {
  const Abilities a = GetParam().abilities(), all = GetParam().family->abilities;
  for (bool Abilities::*ability :
       {&Abilities::encodes, &Abilities::generates, &Abilities::labels_texts, &Abilities::labels_words,
        &Abilities::labels_tokens, &Abilities::fills_gaps, &Abilities::finds_answers, &Abilities::encodes_pictures,
        &Abilities::labels_pictures, &Abilities::listens})
    EXPECT_LE(a.*ability, all.*ability);
  EXPECT_NE(a, Abilities());
}

TEST_P(EveryFamily, WhatIsReadHasTheSameBitsPaddedAndAlone) {
  const auto model = GetParam().make();
  const Sentences s;
  for_each_simd([&] {
    for (int64_t row = 0; row < 4; ++row) {
      SCOPED_TRACE(row);
      const int64_t length = s.lengths[static_cast<size_t>(row)];
      if (const auto* encoder = can<Encoder>(*model)) {
        const Tensor padded = encoder->encode(s.source, {}).slice(0, row, row + 1).slice(1, 0, length);
        ASSERT_TRUE(same_bits(padded, encoder->encode(s.alone(row), {})));
      }
      if (const auto* listener = can<Listener>(*model)) {
        const Tensor alone = listener->hear(s.alone(row), {});
        ASSERT_TRUE(same_bits(listener->hear(s.source, {}).slice(0, row, row + 1).slice(1, 0, alone.size(1)), alone));
      }
      if (const auto* labeller = can<TextLabeller>(*model)) {
        ASSERT_TRUE(
            same_bits(labeller->logits(s.source, {}).slice(0, row, row + 1), labeller->logits(s.alone(row), {})));
      }
    }
  });
}

class EveryGenerator : public testing::TestWithParam<Variant> {
 protected:
  std::shared_ptr<const Generator> model_ = GetParam().make_as<Generator>();
  Source source() const {
    const Abilities& a = GetParam().family->abilities;
    if (const auto* encoder = dynamic_cast<const PictureEncoder*>(model_.get()))
      return {.pixels = pictures(encoder->picture_shape(), s_.inputs.size(0))};
    return a.encodes || a.listens ? s_.source : Source{};
  }
  Source source(const Tensor& order) const {  // its rows in another order
    const Source all = source();
    if (all.pixels) return {.pixels = rows(all.pixels, order)};
    return all.ids ? s_.in_order(order) : Source{};
  }
  Sentences s_;
};
INSTANTIATE_TEST_SUITE_P(Models, EveryGenerator, testing::ValuesIn(generators()), name_of);

TEST_P(EveryGenerator, StepsHaveTheBitsOfTheFullPass) {
  for_each_simd([&] {
    const Tensor full = model_->logits(source(), s_.inputs, {});
    auto state = model_->start(source(), {});
    for (int64_t t = 0; t < s_.inputs.size(1); ++t)
      ASSERT_TRUE(same_bits(model_->step(*state, s_.column(t), {}), full.select(1, t))) << "step " << t;
  });
}

TEST_P(EveryGenerator, AReorderedRowContinuesWhatItIsTold) {
  const std::vector<int64_t> chosen = {2, 0, 0, 3, 1};
  const Tensor order = tensor({5}, chosen);
  const Tensor full = model_->logits(source(order), rows(s_.inputs, order), {});
  for (const int64_t after : {1, 3}) {
    auto state = model_->start(source(), {});
    for (int64_t t = 0; t < after; ++t) model_->step(*state, s_.column(t), {});
    state->reorder(chosen);
    EXPECT_EQ(state->rows(), 5);
    for (int64_t t = after; t < 6; ++t)
      ASSERT_TRUE(same_bits(model_->step(*state, rows(s_.column(t), order), {}), full.select(1, t)))
          << after << ", step " << t;
  }
}

// Tokens [begins[r], ends[r]) of each row, one after another.
struct Chunk {
  Tensor ids;
  std::vector<int64_t> starts = {0};

  Chunk(const Tensor& inputs, const std::vector<int64_t>& begins, const std::vector<int64_t>& ends) {
    std::vector<int64_t> all;
    for (size_t r = 0; r < begins.size(); ++r) {
      const int64_t* row = inputs.data<int64_t>() + static_cast<int64_t>(r) * inputs.size(1);
      all.insert(all.end(), row + begins[r], row + ends[r]);
      starts.push_back(static_cast<int64_t>(all.size()));
    }
    ids = tensor({starts.back()}, all);
  }
};

void expect_last_logits(const Tensor& found, const Tensor& full, const std::vector<int64_t>& ends) {
  for (size_t r = 0; r < ends.size(); ++r) {
    const int64_t row = static_cast<int64_t>(r);
    ASSERT_TRUE(same_bits(found.select(0, row), full.select(0, row).select(0, ends[r] - 1))) << "row " << r;
  }
}

TEST_P(EveryGenerator, AnyNumberOfTokensForEachRowHasTheBitsOfTheFullPass) {
  const std::vector<std::vector<int64_t>> ends = {{0, 0, 0, 0}, {9, 1, 3, 1}, {10, 2, 17, 2}, {11, 3, 19, 18}};
  for_each_simd([&] {
    const Tensor full = model_->logits(source(), s_.inputs, {});
    auto state = model_->start(source(), {});
    for (size_t i = 1; i < ends.size(); ++i) {
      const Chunk chunk(s_.inputs, ends[i - 1], ends[i]);
      expect_last_logits(model_->steps(*state, chunk.ids, chunk.starts, {}), full, ends[i]);
    }
  });
}

// The same with weights in bf16: on tiles the attention and its cache are in bf16, too.
TEST_P(EveryGenerator, InBf16AnyNumberOfTokensHasTheBitsOfTheFullPass) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("fovea_bf16_" + GetParam().name);
  save_model(folder, *GetParam().make());
  const auto loaded = load_model(folder, {.precision = Precision::bf16});
  const auto& model = as<Generator>(*loaded);
  const std::vector<std::vector<int64_t>> ends = {{0, 0, 0, 0}, {9, 1, 3, 1}, {10, 2, 17, 2}, {11, 3, 19, 18}};
  for_each_simd(
      [&] {
        const Tensor full = model.logits(source(), s_.inputs, {});
        auto state = model.start(source(), {});
        for (size_t i = 1; i < ends.size(); ++i) {
          const Chunk chunk(s_.inputs, ends[i - 1], ends[i]);
          expect_last_logits(model.steps(*state, chunk.ids, chunk.starts, {}), full, ends[i]);
        }
      },
      emulated_simds());
  std::filesystem::remove_all(folder);
}

// A row ends, two others enter behind the ones that go on: each has the bits of its own full pass.
TEST_P(EveryGenerator, ABatchIsFilledUpAgain) {
  const Tensor full = model_->logits(source(), s_.inputs, {});
  auto some = [&](int64_t begin, int64_t end) {
    if (source().pixels) return Source{.pixels = source().pixels.slice(0, begin, end).contiguous()};
    if (!source().ids) return Source{zeros({end - begin, 1}, DType::i64), zeros({end - begin}, DType::i64)};
    const int64_t tokens = begin == 0 ? 7 : 17;  // rows 0 and 1 have 7 and 1, rows 2 and 3 have 17 and 5
    return s_.some(begin, end, tokens);
  };
  auto state = model_->start(some(0, 2), {});
  for (int64_t t = 0; t < 6; ++t) model_->step(*state, s_.column(t).slice(0, 0, 2).contiguous(), {});
  state->reorder(std::vector<int64_t>{1});
  state->append(std::move(*model_->start(some(2, 4), {})));
  ASSERT_EQ(state->rows(), 3);
  std::vector<int64_t> at = {6, 0, 0};
  for (int step = 0; step < 9; ++step) {
    std::vector<int64_t> ids;
    for (int64_t r = 0; r < 3; ++r)
      ids.push_back(s_.inputs.data<int64_t>()[(r + 1) * s_.inputs.size(1) + at[static_cast<size_t>(r)]]);
    const Tensor found = model_->step(*state, tensor({3}, ids), {});
    for (int64_t r = 0; r < 3; ++r) {
      ASSERT_TRUE(same_bits(found.select(0, r), full.select(0, r + 1).select(0, at[static_cast<size_t>(r)]++)))
          << "step " << step << ", row " << r;
    }
  }
}

// Every row of a beam goes its own way from what it shares with the others.
TEST_P(EveryGenerator, BeamsThatShareThePastHaveTheBitsOfTheFullPass) {
  const std::vector<int64_t> twice = {0, 0, 1, 1, 2, 2, 3, 3};
  auto state =
      model_->start(source().ids || source().pixels ? source() : Source{.lengths = zeros({4}, DType::i64)}, {});
  state->reorder(twice);
  std::vector<std::vector<int64_t>> written(8);
  const Tensor order = tensor({8}, twice);
  for (int64_t t = 0; t < 18; ++t) {
    std::vector<int64_t> ids;
    for (int64_t r = 0; r < 8; ++r)
      ids.push_back(3 + static_cast<int64_t>(Random(5).below(8, static_cast<uint64_t>(8 * t + r))));
    for (size_t r = 0; r < 8; ++r) written[r].push_back(ids[r]);
    const Tensor found = model_->step(*state, tensor({8}, ids), {});
    if (t % 5 == 4 || t == 17) {
      std::vector<int64_t> all;
      for (const auto& row : written) all.insert(all.end(), row.begin(), row.end());
      const Tensor full = model_->logits(source(order), tensor({8, t + 1}, all), {});
      ASSERT_TRUE(same_bits(found, full.select(1, t))) << "step " << t;
    }
    std::vector<int64_t> parents;  // mostly the first of a pair wins
    for (int64_t pair = 0; pair < 8; pair += 2) {
      parents.push_back(pair + (t + pair) % 3 / 2);
      parents.push_back(pair);
    }
    std::vector<std::vector<int64_t>> next;
    for (int64_t p : parents) next.push_back(written[static_cast<size_t>(p)]);
    written = next;
    state->reorder(parents);
  }
}

TEST_P(EveryGenerator, PaddedHasTheBitsOfAlone) {
  if (!source().ids && !source().pixels) return;
  for_each_simd([&] {
    const Tensor together = model_->logits(source(), s_.inputs, {});
    for (int64_t i = 0; i < s_.inputs.size(0); ++i) {
      const Source alone = source().pixels ? source(tensor({1}, std::vector<int64_t>{i})) : s_.alone(i);
      const Tensor found = model_->logits(alone, s_.inputs.slice(0, i, i + 1).contiguous(), {});
      ASSERT_TRUE(same_bits(found, together.slice(0, i, i + 1))) << "row " << i;
    }
  });
}

TEST_P(EveryGenerator, TheSourceMattersAndTheFutureDoesNot) {
  const Tensor before = model_->logits(source(), s_.inputs, {});
  s_.inputs.data<int64_t>()[10] = 3 + (s_.inputs.data<int64_t>()[10] - 2) % 8;  // token 10 of row 0
  const Tensor changed = model_->logits(source(), s_.inputs, {});
  EXPECT_TRUE(same_bits(before.slice(1, 0, 10), changed.slice(1, 0, 10)));
  EXPECT_FALSE(same_bits(before.select(0, 0).select(0, 10), changed.select(0, 0).select(0, 10)));
  if (const Source other = source(tensor({4}, std::vector<int64_t>{1, 0, 2, 3})); other.pixels)
    EXPECT_FALSE(same_bits(changed.select(0, 0), model_->logits(other, s_.inputs, {}).select(0, 0)));
  if (!source().ids) return;
  for (int64_t i = 0; i < 17; ++i) s_.source.ids.data<int64_t>()[i] = 3;
  for (int64_t i = 0; i < 17; ++i) s_.source.frames.data<float>()[i] = 3;
  EXPECT_FALSE(same_bits(changed.select(0, 0), model_->logits(s_.source, s_.inputs, {}).select(0, 0)));
}

TEST_P(EveryGenerator, AttentionOverTheSourceSumsToOne) {
  const std::string place = model_->source_attention();
  if (place.empty()) return;
  Trace trace;
  trace.places = {place};
  model_->logits(source(), s_.inputs, {.trace = &trace});
  const Tensor w = trace[place].weights;  // [batch, heads, queries, keys]
  for (double total : sum(w, {-1}).values<double>()) EXPECT_NEAR(total, 1, 1e-5);
  if (!source().ids) return;
  EXPECT_EQ(sum(w.select(0, 1).slice(-1, 1, w.size(-1))).item(), 0);  // row 1 has one token
}

}  // namespace
}  // namespace fovea
