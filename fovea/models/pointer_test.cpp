// Models that copy, held to PyTorch's numbers (tests/golden/make_pointer.py), and to themselves in other batches.
#include "fovea/models/pointer.h"

#include <cmath>

#include "fovea/generate/search.h"
#include "fovea/models/golden.h"
#include "fovea/models/sentences.h"
#include "fovea/models/variants.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

const SafeTensors& pointer_file() {
  static const SafeTensors file(std::filesystem::path(test_data) / "golden" / "pointer.safetensors");
  return file;
}

Tensor probabilities(const Tensor& logits) {
  std::vector<double> p = logits.values<double>();
  for (double& x : p) x = std::exp(x);
  return tensor(logits.shape(), p);
}

template <class M>
void check_gradients(M& model, const std::string& name, double allowed, const Context& context) {
  const SafeTensors& file = pointer_file();
  const Source source = {file["source"], file["lengths"]};
  require_gradients(model);
  const Tensor logits = model.logits(source, file["inputs"], context);
  gradient_check::expect_near(probabilities(logits), probabilities(file[name + ".logits"]), allowed, "probabilities");
  const Tensor loss = model.loss(source, file["inputs"], file["targets"], {.ignored = 0}, context);
  EXPECT_NEAR(loss.item(), file[name + ".loss"].item(), allowed);
  loss.backward();
  size_t weights = 0;
  for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
    ASSERT_TRUE(w.gradient()) << path;
    gradient_check::expect_near(w.gradient(), file[name + ".gradient." + path], allowed, "gradient of " + path);
    ++weights;
  });
  EXPECT_EQ(weights, golden(file, name + ".gradient.").size());
}

// What is written one after another, by the cache.
void check_greedy(const Generator& model, const std::string& name) {
  const SafeTensors& file = pointer_file();
  const Tensor expected = file[name + ".greedy"];
  std::vector<Request> requests;
  for (int64_t row = 0; row < 3; ++row) {
    const std::vector<int64_t> ids = file["source"].select(0, row).values<int64_t>();
    const int64_t length = file["lengths"].values<int64_t>()[static_cast<size_t>(row)];
    requests.push_back({.source = {ids.begin(), ids.begin() + length}});
  }
  const std::vector<Hypotheses> found = generate(model, requests, {.max_length = 6});
  for (int64_t row = 0; row < 3; ++row)
    EXPECT_EQ(found[static_cast<size_t>(row)][0].ids, expected.select(0, row).values<int64_t>()) << "row " << row;
}

template <class Make>
void check_pointer_golden(const std::string& name, Make make, const Context& context = {}) {
  SCOPED_TRACE(name);
  for_each_arithmetic([&](DType type) {
    auto model = make();
    load(model, golden(pointer_file(), name + ".weight."));
    if (type == DType::f32) check_greedy(model, name);
    convert(model, type);
    check_gradients(model, name, type == DType::f64 ? 1e-6 : 2e-5, context);
  });
}

TEST(Pointer, TransformerEqualsPyTorch) {
  for (const std::string norm : {"post", "pre"}) {
    check_pointer_golden("transformer_" + norm + "_pointer", [&] {
      return Transformer({.vocabulary = 11,
                          .encoder_layers = 2,
                          .decoder_layers = 2,
                          .pointer = true,
                          .stack = {.width = 8, .heads = 2, .hidden = 12, .norm = norm, .dropout = 0}});
    });
  }
}

Seq2Seq::Config golden_config(const std::string& order, bool coverage) {
  const bool bahdanau = order == "bahdanau";
  const int64_t layers = bahdanau || coverage ? 1 : 2;
  return {.vocabulary = 11,
          .cell = bahdanau ? "lstm" : "gru",
          .embedding = 4,
          .encoder_width = 3,
          .encoder_layers = layers,
          .decoder_width = 5,
          .decoder_layers = layers,
          .attention = bahdanau ? "additive" : "general",
          .attention_width = 7,
          .order = order,
          .coverage = coverage,
          .coverage_loss = coverage ? 0.7 : 0,
          .pointer = true};
}

TEST(Pointer, RecurrentDecodersEqualPyTorch) {
  for (const std::string order : {"bahdanau", "luong"}) {
    check_pointer_golden(order, [&] { return Seq2Seq(golden_config(order, false)); });
    check_pointer_golden(order + "_coverage", [&] { return Seq2Seq(golden_config(order, true)); }, {.training = true});
  }
}

// Of sources with words outside of the vocabulary: how many of them each row has.
class EveryCopier : public testing::TestWithParam<Variant> {
 protected:
  EveryCopier() {
    int64_t* ids = s_.source.ids.data<int64_t>();
    ids[1] = ids[4] = 11, ids[5] = 12;  // row 0 has two words, row 1 none, row 2 four
    for (int64_t i = 0; i < 4; ++i) ids[2 * 17 + 3 * i] = 11 + i;
    ids[17 + 3] = 1000;  // beyond the length of row 1: never looked at
    s_.inputs.data<int64_t>()[3] = 12, s_.inputs.data<int64_t>()[2 * 19 + 2] = 14;
  }
  int64_t width(int64_t row) const { return row == 0 ? 13 : row == 2 ? 15 : 11; }

  std::shared_ptr<const Generator> model_ = GetParam().make_as<Generator>();
  Sentences s_;
};

std::vector<Variant> copiers() {
  std::vector<Variant> all = writers();
  std::erase_if(all, [](const Variant& v) { return !copies(as<Generator>(*v.shaped())); });
  return all;
}
INSTANTIATE_TEST_SUITE_P(Models, EveryCopier, testing::ValuesIn(copiers()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryCopier, GivesADistributionOverTheVocabularyAndTheWordsOfItsOwnSource) {
  const Tensor p = probabilities(model_->logits(s_.source, s_.inputs, {}));
  ASSERT_EQ(p.size(2), 15);
  for (double total : sum(p, {-1}).values<double>()) EXPECT_NEAR(total, 1, 1e-5);
  for (int64_t row = 0; row < 4; ++row) {
    if (width(row) < 15) EXPECT_EQ(sum(p.select(0, row).slice(1, width(row), 15)).item(), 0) << "row " << row;
    for (double x : p.select(0, row).slice(1, 0, width(row)).values<double>()) EXPECT_GT(x, 0) << "row " << row;
  }
}

TEST_P(EveryCopier, HasTheSameBitsAloneStepByStepAndFilledUp) {
  const Tensor full = model_->logits(s_.source, s_.inputs, {});
  for (int64_t row = 0; row < 4; ++row) {
    const Tensor alone = model_->logits(s_.alone(row), s_.inputs.slice(0, row, row + 1).contiguous(), {});
    ASSERT_EQ(alone.size(2), width(row));
    ASSERT_TRUE(same_bits(alone, full.slice(0, row, row + 1).slice(2, 0, width(row)))) << "row " << row;
  }
  auto some = [&](int64_t begin, int64_t end, int64_t tokens) {
    return Source{s_.source.ids.slice(0, begin, end).slice(1, 0, tokens).contiguous(),
                  s_.source.lengths.slice(0, begin, end).contiguous()};
  };
  auto state = model_->start(some(0, 2, 7), {});
  for (int64_t t = 0; t < 5; ++t) {
    const Tensor y = model_->step(*state, s_.column(t).slice(0, 0, 2).contiguous(), {});
    ASSERT_EQ(y.size(1), 13);
    ASSERT_TRUE(same_bits(y, full.slice(0, 0, 2).select(1, t).slice(1, 0, 13))) << "step " << t;
  }
  state->append(std::move(*model_->start(some(2, 4, 17), {})));
  const std::vector<int64_t> rows = {0, 2};
  state->reorder(rows);
  for (int64_t t = 0; t < 4; ++t) {
    const std::vector<int64_t> ids = {s_.inputs.data<int64_t>()[5 + t], s_.inputs.data<int64_t>()[2 * 19 + t]};
    const Tensor y = model_->step(*state, tensor({2}, ids), {});
    ASSERT_TRUE(same_bits(y.select(0, 0), full.select(0, 0).select(0, 5 + t)));
    ASSERT_TRUE(same_bits(y.select(0, 1), full.select(0, 2).select(0, t)));
  }
}

// With a gradient the weights come out of the values, without one out of the probe.
TEST_P(EveryCopier, LearningChangesNothingOfWhatItSays) {
  const Tensor before = model_->logits(s_.source, s_.inputs, {});
  const std::unique_ptr<Model> model = GetParam().make();
  require_gradients(*model);
  const Tensor after = as<Generator>(*model).logits(s_.source, s_.inputs, {});
  gradient_check::expect_near(probabilities(after), probabilities(before), 1e-5, "probabilities");
}

TEST_P(EveryCopier, SearchHasTheSameBitsInAnyBatchAndSaysWhatWasCopied) {
  std::vector<Request> requests;
  for (int64_t row = 0; row < 4; ++row) requests.push_back({.source = s_.alone(row).ids.values<int64_t>()});
  for (const GenerationConfig& config : {GenerationConfig{.beam_size = 1, .max_length = 9},
                                         GenerationConfig{.beam_size = 3, .n_best = 2, .max_length = 9},
                                         GenerationConfig{.sample = true, .max_length = 9}}) {
    GenerationConfig small = config;
    small.batch_size = 2;
    const std::vector<Hypotheses> all = generate(*model_, requests, config, {.attention = true});
    const std::vector<Hypotheses> refilled = generate(*model_, requests, small);
    for (size_t row = 0; row < 4; ++row) {
      ASSERT_EQ(all[row].size(), refilled[row].size());
      for (size_t k = 0; k < all[row].size(); ++k) {
        const Hypothesis &h = all[row][k], &other = refilled[row][k];
        EXPECT_EQ(h.ids, other.ids);
        EXPECT_EQ(h.log_probabilities, other.log_probabilities);
        ASSERT_EQ(h.copied.size(), h.log_probabilities.size());
        EXPECT_TRUE(other.copied.empty());
        for (size_t i = 0; i < h.ids.size(); ++i) {
          const std::vector<int64_t>& source = requests[row].source;
          if (h.ids[i] >= 11) EXPECT_NEAR(h.copied[i], 1, 1e-4);
          if (std::find(source.begin(), source.end(), h.ids[i]) == source.end()) EXPECT_EQ(h.copied[i], 0);
        }
      }
    }
  }
}

TEST(Pointer, ConfigsThatCannotCopyAreErrors) {
  const Seq2Seq::Config plain = {.vocabulary = 11, .pointer = true};
  auto error = [&](auto change) {
    Seq2Seq::Config c = plain;
    change(c);
    return error_of([&] { Seq2Seq{c}; });
  };
  EXPECT_NE(error([](auto& c) { c.attention = "none"; }).find("expected a form of attention"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.selection = "hard"; }).find("and soft"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.source_vocabulary = 12; }).find("share"), std::string::npos);
  EXPECT_NE(error([](auto& c) { c.unknown = 11; }).find("id of what is unknown"), std::string::npos);
}

}  // namespace
}  // namespace fovea
