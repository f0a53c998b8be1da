#include <cstring>
#include <limits>

#include "fovea/base/file.h"
#include "fovea/models/families/seq2seq.h"
#include "fovea/models/families/transformer.h"
#include "fovea/models/golden.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/sentences.h"
#include "fovea/models/variants.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

TEST(Models, TransformerEqualsPyTorch) {
  for (const std::string norm : {"post", "pre"}) {
    check_model_golden("transformer_" + norm, [&] {
      return Transformer({.vocabulary = 11,
                          .encoder_layers = 2,
                          .decoder_layers = 2,
                          .stack = {.width = 8, .heads = 2, .hidden = 12, .norm = norm}});
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

std::filesystem::path fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("fovea_models_" + name);
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(Models, HalfPrecisionStorageLoadsAsRoundedWeights) {
  Transformer model(
      {.vocabulary = 5, .encoder_layers = 1, .decoder_layers = 1, .stack = {.width = 4, .heads = 1, .hidden = 4}});
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
  initialise(model, Random(1));
  const std::filesystem::path folder = fresh_folder("damaged");
  EXPECT_NE(load_error(folder).find("no config.json"), std::string::npos);
  save_model(folder, model);
  const std::string config = read_text(folder / "config.json");
  const auto with_config = [&](const std::string& text) {
    write_text(folder / "config.json", text);
    return load_error(folder);
  };
  EXPECT_NE(with_config("{\"model_type\": ").find("not valid JSON"), std::string::npos);
  EXPECT_NE(with_config("{}").find("no \"model_type\""), std::string::npos);
  EXPECT_NE(with_config("{\"model_type\": \"brt\"}").find("unknown family of models 'brt'"), std::string::npos);
  EXPECT_NE(with_config("{\"model_type\": \"seq2seq\", \"vocabulry\": 5}").find("'vocabulary'"), std::string::npos);
  EXPECT_NE(with_config("{\"model_type\": \"seq2seq\", \"vocabulary\": -5}").find("config.json"), std::string::npos);
  EXPECT_NE(with_config(R"({"model_type": "seq2seq", "vocabulary": 5, "encoder_layers": 2147483648})").find("layers"),
            std::string::npos);
  EXPECT_NE(with_config(R"({"model_type": "seq2seq", "vocabulary": 5, "embedding": 4611686018427387904})")
                .find("config.json"),
            std::string::npos);
  EXPECT_NE(
      with_config(R"({"model_type": "transformer", "vocabulary": 5, "positions": "learned", "longest": 2000000000})")
          .find("as config.json says"),
      std::string::npos);
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
  tensors = save(model);
  tensors["bridge.bias"] = full({4}, std::numeric_limits<double>::quiet_NaN());
  write_safetensors(folder / "model.safetensors", tensors);
  EXPECT_NE(load_error(folder).find("expected finite numbers"), std::string::npos);
  std::filesystem::resize_file(folder / "model.safetensors", 100);
  EXPECT_NE(load_error(folder), "no error");
  std::filesystem::remove(folder / "model.safetensors");
  EXPECT_NE(load_error(folder), "no error");
  std::filesystem::remove_all(folder);
}

TEST(Models, DropoutActsInTrainingOnlyAndFollowsItsSeed) {
  Transformer transformer({.vocabulary = 11,
                           .encoder_layers = 1,
                           .decoder_layers = 1,
                           .stack = {.width = 24, .heads = 3, .hidden = 33, .dropout = 0.2}});
  Seq2Seq recurrent({.vocabulary = 11, .embedding = 9, .encoder_width = 10, .decoder_width = 20, .dropout = 0.2});
  Variant::randomise(transformer), Variant::randomise(recurrent);
  const Sentences s;
  for (const Generator* model :
       {static_cast<const Generator*>(&transformer), static_cast<const Generator*>(&recurrent)}) {
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
  EXPECT_THROW(Transformer({.vocabulary = 9, .stack = {.norm = "middle"}}), Error);
  EXPECT_THROW(Transformer({.vocabulary = 9, .stack = {.width = 10, .heads = 3}}), Error);
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
