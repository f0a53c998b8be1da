#include <cstring>

#include "fovea/base/file.h"
#include "fovea/models/checkpoint.h"
#include "fovea/models/golden.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

TEST(Models, TransformerEqualsPyTorch) {
  for (const std::string norm : {"post", "pre"}) {
    check_model_golden("transformer_" + norm, [&] {
      return Transformer({.vocabulary = 11,
                          .width = 8,
                          .heads = 2,
                          .hidden = 12,
                          .encoder_layers = 2,
                          .decoder_layers = 2,
                          .norm = norm});
    });
  }
}

Seq2Seq::Config golden_config(const std::string& cell, int64_t layers) {
  return {.vocabulary = 11,
          .cell = cell,
          .embedding = 4,
          .encoder_width = 3,
          .encoder_layers = layers,
          .decoder_width = 5,
          .decoder_layers = layers,
          .attention_width = 7};
}

TEST(Models, BahdanauEqualsPyTorch) {
  check_model_golden("bahdanau_additive_gru", [] { return Seq2Seq(golden_config("gru", 1)); });
  check_model_golden("bahdanau_additive_lstm", [] { return Seq2Seq(golden_config("lstm", 2)); });
}

TEST(Models, LuongEqualsPyTorch) {
  for (const std::string cell : {"lstm", "gru"}) {
    check_model_golden("luong_general_" + cell, [&] {
      Seq2Seq::Config c = golden_config(cell, cell == "lstm" ? 2 : 1);
      c.attention = "general", c.order = "luong";
      return Seq2Seq(c);
    });
  }
}

TEST(Models, CoverageEqualsPyTorch) {
  for (const std::string order : {"bahdanau", "luong"}) {
    Seq2Seq::Config c = golden_config(order == "luong" ? "lstm" : "gru", 1);
    c.order = order, c.attention = order == "luong" ? "general" : "additive";
    c.coverage = true, c.coverage_loss = 0.7;
    check_model_golden(order + "_" + c.attention + "_coverage", [&] { return Seq2Seq(c); }, {.training = true});
  }
}

// A sentence of every length from 1 to 17 and more, and targets of 19 tokens.
struct Sentences {
  std::vector<int64_t> lengths = {7, 1, 17, 5};
  Source source;
  Tensor inputs;

  Sentences() {
    const int64_t batch = static_cast<int64_t>(lengths.size());
    source = {ids({batch, 17}, 1), tensor({batch}, lengths)};
    inputs = ids({batch, 19}, 2);
  }
  static Tensor ids(const Shape& shape, uint64_t seed) {
    Tensor t(shape, DType::i64);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.data<int64_t>()[i] = 3 + static_cast<int64_t>(Random(seed).below(8, static_cast<uint64_t>(i)));
    return t;
  }
  Tensor column(int64_t t) const { return inputs.select(1, t).contiguous(); }
};

class EveryModel : public testing::TestWithParam<SmallModel> {};
INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(small_models()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryModel, StepsHaveTheBitsOfTheFullPass) {
  const auto model = GetParam().make();
  const Sentences s;
  for_each_simd([&] {
    const Tensor full = model->logits(s.source, s.inputs, {});
    auto state = model->start(s.source, {});
    for (int64_t t = 0; t < s.inputs.size(1); ++t) {
      ASSERT_TRUE(same_bits(model->step(*state, s.column(t), {}), full.select(1, t))) << "step " << t;
    }
  });
}

TEST_P(EveryModel, AReorderedRowContinuesWhatItIsTold) {
  const auto model = GetParam().make();
  const Sentences s;
  const Tensor order = tensor({5}, std::vector<int64_t>{2, 0, 0, 3, 1});
  const Tensor full =
      model->logits({rows(s.source.ids, order), rows(s.source.lengths, order)}, rows(s.inputs, order), {});
  for (const int64_t after : {0, 1, 3}) {
    auto state = model->start(s.source, {});
    for (int64_t t = 0; t < after; ++t) model->step(*state, s.column(t), {});
    state->reorder(order);
    for (int64_t t = after; t < 6; ++t) {
      const Tensor ids = rows(s.column(t), order);
      ASSERT_TRUE(same_bits(model->step(*state, ids, {}), full.select(1, t))) << after << ", step " << t;
    }
  }
}

TEST_P(EveryModel, PaddedHasTheBitsOfAlone) {
  const auto model = GetParam().make();
  const Sentences s;
  for_each_simd([&] {
    const Tensor together = model->logits(s.source, s.inputs, {});
    for (int64_t i = 0; i < s.inputs.size(0); ++i) {
      const int64_t length = s.lengths[static_cast<size_t>(i)];
      const Source alone = {s.source.ids.slice(0, i, i + 1).slice(1, 0, length).contiguous(), {}};
      const Tensor found = model->logits(alone, s.inputs.slice(0, i, i + 1).contiguous(), {});
      ASSERT_TRUE(same_bits(found, together.slice(0, i, i + 1))) << "row " << i;
    }
  });
}

TEST_P(EveryModel, SameBitsForAnyThreadCount) {
  const auto model = GetParam().make();
  const Sentences s;
  const int before = threads();
  set_threads(1);
  const Tensor one = model->logits(s.source, s.inputs, {});
  set_threads(3);
  const Tensor three = model->logits(s.source, s.inputs, {});
  set_threads(before);
  EXPECT_TRUE(same_bits(one, three));
}

TEST_P(EveryModel, TheSourceMattersAndTheFutureDoesNot) {
  const auto model = GetParam().make();
  Sentences s;
  const Tensor before = model->logits(s.source, s.inputs, {});
  s.inputs.data<int64_t>()[10] = 3 + (s.inputs.data<int64_t>()[10] - 2) % 8;  // token 10 of row 0
  const Tensor changed = model->logits(s.source, s.inputs, {});
  EXPECT_TRUE(same_bits(before.slice(1, 0, 10), changed.slice(1, 0, 10)));
  EXPECT_FALSE(same_bits(before.select(0, 0).select(0, 10), changed.select(0, 0).select(0, 10)));
  for (int64_t i = 0; i < 17; ++i) s.source.ids.data<int64_t>()[i] = 3;
  EXPECT_FALSE(same_bits(changed.select(0, 0), model->logits(s.source, s.inputs, {}).select(0, 0)));
}

TEST_P(EveryModel, AttentionOverTheSourceSumsToOne) {
  const auto model = GetParam().make();
  const Sentences s;
  if (model->source_attention().empty()) return;
  Trace trace;
  trace.places = {model->source_attention()};
  model->logits(s.source, s.inputs, {.trace = &trace});
  const Tensor w = trace[model->source_attention()].weights;  // [batch, heads, queries, keys]
  const std::vector<double> sums = sum(w, {-1}).values<double>();
  for (double total : sums) EXPECT_NEAR(total, 1, 1e-5);
  EXPECT_EQ(sum(w.select(0, 1).slice(-1, 1, 17)).item(), 0);  // row 1 has one token
}

std::filesystem::path fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("fovea_models_" + name);
  std::filesystem::remove_all(folder);
  return folder;
}

TEST_P(EveryModel, SavedAndLoadedHasTheSameBits) {
  const auto model = GetParam().make();
  const std::filesystem::path folder = fresh_folder(GetParam().name);
  save_model(folder, *model);
  const auto loaded = load_model_as<Seq2SeqModel>(folder);
  EXPECT_EQ(loaded->config(), model->config());
  const Sentences s;
  EXPECT_TRUE(same_bits(loaded->logits(s.source, s.inputs, {}), model->logits(s.source, s.inputs, {})));
  std::filesystem::remove_all(folder);
}

TEST(Models, HalfPrecisionStorageLoadsAsRoundedWeights) {
  Transformer::Config config = {.vocabulary = 5, .width = 4, .heads = 1, .hidden = 4};
  config.encoder_layers = config.decoder_layers = 1;
  Transformer model(config);
  initialise(model, Random(3));
  const std::filesystem::path folder = fresh_folder("half");
  for (const DType type : {DType::f16, DType::bf16}) {
    save_model(folder, model, {.storage = type});
    const auto loaded = load_model(folder);
    const NamedTensors given = save(model), found = save(*loaded);
    for (const auto& [name, tensor] : given) {
      EXPECT_EQ(found.at(name).dtype(), DType::f32);
      EXPECT_EQ(found.at(name).values<float>(), tensor.to(type).values<float>()) << name;
    }
  }
  std::filesystem::remove_all(folder);
}

// The text of the Error that loading the folder gives.
std::string load_error(const std::filesystem::path& folder) {
  try {
    load_model(folder);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Models, DamagedAndForeignFoldersAreErrors) {
  Seq2Seq model({.vocabulary = 5, .embedding = 3, .encoder_width = 2, .decoder_width = 4});
  const std::filesystem::path folder = fresh_folder("damaged");
  EXPECT_NE(load_error(folder).find("not a folder"), std::string::npos);
  save_model(folder, model);
  const std::string config = read_text(folder / "config.json");
  const auto with_config = [&](const std::string& text) {
    write_text(folder / "config.json", text);
    return load_error(folder);
  };
  EXPECT_NE(with_config("{\"model_type\": ").find("not valid JSON"), std::string::npos);
  EXPECT_NE(with_config("{}").find("no \"model_type\""), std::string::npos);
  EXPECT_NE(with_config("{\"model_type\": \"bert\"}").find("unknown family of models 'bert'"), std::string::npos);
  EXPECT_NE(with_config("{\"model_type\": \"seq2seq\", \"vocabulry\": 5}").find("'vocabulary'"), std::string::npos);
  EXPECT_NE(with_config("{\"model_type\": \"seq2seq\", \"vocabulary\": -5}").find("config.json"), std::string::npos);
  std::string other = config;
  other.replace(other.find("\"decoder_width\": 4"), 18, "\"decoder_width\": 6");
  EXPECT_NE(with_config(other).find("as config.json says"), std::string::npos);
  write_text(folder / "config.json", config);
  EXPECT_EQ(load_error(folder), "no error");
  NamedTensors tensors = save(model);
  tensors["more"] = zeros({1});
  write_safetensors(folder / "model.safetensors", tensors);
  EXPECT_NE(load_error(folder).find("'more'"), std::string::npos);
  tensors.erase("more"), tensors.erase("bridge.bias");
  write_safetensors(folder / "model.safetensors", tensors);
  EXPECT_NE(load_error(folder).find("'bridge.bias' is missing"), std::string::npos);
  std::filesystem::resize_file(folder / "model.safetensors", 100);
  EXPECT_NE(load_error(folder), "no error");
  std::filesystem::remove(folder / "model.safetensors");
  EXPECT_NE(load_error(folder), "no error");
  std::filesystem::remove_all(folder);
}

TEST(Models, DecoderAloneIsALanguageModelWithTheSameBitsStepByStep) {
  Transformer::Config config = {.parts = "decoder", .vocabulary = 11, .width = 24, .heads = 3, .hidden = 33};
  config.decoder_layers = 2, config.positions = "rotary", config.norm = "pre";
  const auto model = small_model<Transformer>("lm", config).make();
  const Sentences s;
  const Tensor full = model->logits({}, s.inputs, {});
  auto state = model->start({zeros({4, 0}, DType::i64), zeros({4}, DType::i64)}, {});
  for (int64_t t = 0; t < 19; ++t) ASSERT_TRUE(same_bits(model->step(*state, s.column(t), {}), full.select(1, t))) << t;
  EXPECT_THROW(model->logits(s.source, s.inputs, {}), Error);
}

TEST(Models, EncoderAloneGivesStates) {
  Transformer::Config config = {.parts = "encoder", .vocabulary = 11, .width = 24, .heads = 3, .hidden = 33};
  config.encoder_layers = 2;
  const auto made = small_model<Transformer>("encoder", config).make();
  const auto& model = dynamic_cast<const Transformer&>(*made);
  const Sentences s;
  const Tensor together = model.encode(s.source, {});
  const Tensor alone = model.encode({s.source.ids.slice(0, 3, 4).slice(1, 0, 5).contiguous(), {}}, {});
  EXPECT_TRUE(same_bits(together.slice(0, 3, 4).slice(1, 0, 5), alone));
  EXPECT_THROW(model.logits(s.source, s.inputs, {}), Error);
}

TEST(Models, DropoutActsInTrainingOnlyAndFollowsItsSeed) {
  Transformer::Config t = {.vocabulary = 11, .width = 24, .heads = 3, .hidden = 33, .dropout = 0.2};
  t.encoder_layers = t.decoder_layers = 1;
  const Seq2Seq::Config r = {
      .vocabulary = 11, .embedding = 9, .encoder_width = 10, .decoder_width = 20, .dropout = 0.2};
  const Sentences s;
  for (const SmallModel& m : {small_model<Transformer>("t", t), small_model<Seq2Seq>("r", r)}) {
    const auto model = m.make();
    auto run = [&](bool training, uint64_t seed) {
      return model->logits(s.source, s.inputs, {.training = training, .random = Random(seed)});
    };
    EXPECT_TRUE(same_bits(run(false, 1), run(false, 2)));
    EXPECT_TRUE(same_bits(run(true, 1), run(true, 1)));
    EXPECT_FALSE(same_bits(run(true, 1), run(true, 2)));
    EXPECT_FALSE(same_bits(run(true, 1), run(false, 1)));
  }
}

TEST(Models, ConfigsThatDoNotGoTogetherAreErrors) {
  EXPECT_THROW(Transformer({.vocabulary = 0}), Error);
  EXPECT_THROW(Transformer({.vocabulary = 9, .norm = "middle"}), Error);
  EXPECT_THROW(Transformer({.vocabulary = 9, .width = 10, .heads = 3}), Error);
  EXPECT_THROW(Transformer({.vocabulary = 9, .source_vocabulary = 7}), Error);
  EXPECT_THROW(Transformer({.vocabulary = 9, .end = 9}), Error);
  EXPECT_THROW(Seq2Seq({.vocabulary = 9, .encoder_width = 3, .decoder_width = 5, .attention = "dot"}), Error);
  EXPECT_THROW(Seq2Seq({.vocabulary = 9, .attention = "additiv"}), Error);
  EXPECT_THROW(Seq2Seq({.vocabulary = 9, .attention = "none", .coverage = true}), Error);
  EXPECT_THROW(Seq2Seq({.vocabulary = 9, .coverage_loss = 1}), Error);
  EXPECT_THROW(Seq2Seq({.vocabulary = 9, .embedding = 3, .readout = 4, .tied = true}), Error);
}

}  // namespace
}  // namespace fovea
