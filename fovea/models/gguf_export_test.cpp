// Models that Transformers made, written as GGUF and read again: still its logits. And blocks against the numbers that they came from.
#include "fovea/models/gguf_export.h"

#include <unistd.h>

#include <cmath>
#include <set>

#include "fovea/data/text/gguf_vocabulary.h"
#include "fovea/formats/gguf.h"
#include "fovea/models/language_model_golden.h"
#include "fovea/models/variants.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class GgufExportTest : public testing::Test {
 protected:
  GgufExportTest() { fs::create_directories(root_); }
  ~GgufExportTest() override { fs::remove_all(root_); }

  // Few enough words for models with a vocabulary of 37.
  static void write_words(const fs::path& folder) {
    write_text(folder / "vocab.txt",
               "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nworld\nlow\n##er\n2\n##0\n,\nit\n'\ns\n");
  }
  std::unique_ptr<Model> round_trip(const LanguageModelCase& c, const std::string& weights = "f32") {
    c.write(root_ / c.name, 0);
    write_words(root_ / c.name);
    export_gguf(root_ / c.name, file_, {.weights = weights});
    return load_model(file_);
  }
  static std::string error_of(auto&& action) {
    try {
      action();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  const fs::path root_ = fs::path(testing::TempDir()) / ("fovea_gguf_export_" + std::to_string(getpid()));
  const fs::path file_ = root_ / "model.gguf";
};

TEST_F(GgufExportTest, LanguageModelsKeepTheLogitsOfTransformers) {
  const std::set<std::string> refused = {
      "llama_dynamic", "llama_yarn_scales", "llama_llama3", "mistral", "qwen2", "gemma2", "gemma3", "gpt2_inverse"};
  for (const std::string& name : golden_language_models()) {
    SCOPED_TRACE(name);
    const LanguageModelCase c(name);
    if (refused.count(name)) {
      EXPECT_NE(error_of([&] { round_trip(c); }), "no error");
      EXPECT_FALSE(fs::exists(file_.string() + ".new"));
      EXPECT_FALSE(fs::exists(file_));
      continue;
    }
    c.expect_golden(*round_trip(c));
    fs::remove(file_);
  }
}

// Gemma's scale of scores, and which of its layers have windows, are not written: they are what they are in all its models.
TEST_F(GgufExportTest, GemmaKeepsItsLogits) {
  for (const char* name : {"gemma2", "gemma3"}) {
    LanguageModelCase c(name);
    c.configs[0]["query_pre_attn_scalar"] = c.configs[0]["head_dim"];
    c.configs[0].erase("sliding_window_pattern");
    const Tensor prompt = golden_models()[c.name + ".prompt.0"].unsqueeze(0);
    const Tensor expected = as<Generator>(*c.load(0)).logits({}, prompt, {});
    gradient_check::expect_near(as<Generator>(*round_trip(c)).logits({}, prompt, {}), expected, 1e-5, "logits");
  }
}

TEST_F(GgufExportTest, FactorsOfLlama3AreThoseOfItsFormula) {
  LanguageModelCase c("llama_llama3");
  c.configs[0]["rope_scaling"]["original_max_position_embeddings"] = 8192;
  c.configs[0]["rope_theta"] = 500000.0;
  const Tensor prompt = golden_models()[c.name + ".prompt.0"].unsqueeze(0);
  const Tensor expected = as<Generator>(*c.load(0)).logits({}, prompt, {});
  gradient_check::expect_near(as<Generator>(*round_trip(c)).logits({}, prompt, {}), expected, 1e-5, "logits");
}

TEST_F(GgufExportTest, BertKeepsItsStatesAndLosesItsHead) {
  const fs::path folder = root_ / "bert";
  for (const std::string architecture : {"BertModel", "BertForMaskedLM"}) {
    const auto config = find<Family>("bert").config();
    from_json(fmt::format(R"({{"architectures": ["{}"], "vocab_size": 20, "hidden_size": 32, "num_attention_heads": 4,
                              "num_hidden_layers": 2, "intermediate_size": 64, "max_position_embeddings": 40}})",
                          architecture),
              *config, "config.json");
    const std::unique_ptr<Model> model = config->make();
    Variant::randomise(*model);
    save_model(folder, *model);
    write_words(folder);
    std::string notes;
    export_gguf(folder, file_, {.weights = "f32", .note = [&](const std::string& line) { notes += line; }});
    EXPECT_EQ(notes.find("cls.predictions") != notes.npos, architecture == "BertForMaskedLM") << notes;
    const Source source = {tensor({1, 5}, std::vector<int64_t>{2, 5, 6, 9, 3}), {}};
    const auto states = [&](const fs::path& path) { return as<Encoder>(*load_model(path)).encode(source, {}); };
    gradient_check::expect_near(states(file_), states(folder), 1e-5, architecture);
  }
}

// Against the folder's numbers in float64: relative to their root mean square, as blocks_test.cpp bounds it.
TEST_F(GgufExportTest, BlocksAreNearTheNumbersAndRowsThatDoNotFitAreKeptInOthers) {
  const fs::path folder = root_ / "wide";
  const auto config = find<Family>("llama").config();
  from_json(R"({"hidden_size": 256, "intermediate_size": 96, "num_hidden_layers": 1, "num_attention_heads": 4,
                "num_key_value_heads": 2, "vocab_size": 20})",
            *config, "config.json");
  const std::unique_ptr<Model> model = config->make();
  initialise(*model, Random(3));
  save_model(folder, *model);
  write_words(folder);
  const SafeTensors given(folder);
  const std::tuple<std::string, std::string, double, std::string> cases[] = {{"q8_0", "q8_0", 0.0060, "q8_0"},
                                                                             {"q4_0", "q4_0", 0.0950, "q4_0"},
                                                                             {"q4_K", "q4_K", 0.0750, "q5_0"},
                                                                             {"q6_K", "q6_K", 0.0190, "q8_0"}};
  for (const auto& [weights, wide, bound, narrow] : cases) {
    SCOPED_TRACE(weights);
    export_gguf(folder, file_, {.weights = weights});
    const Gguf written(file_);
    EXPECT_EQ(name(written.blocks("blk.0.ffn_up.weight").type), wide);
    EXPECT_EQ(name(written.blocks("blk.0.ffn_down.weight").type), narrow);  // rows of 96
    EXPECT_EQ(name(written.blocks("output.weight").type), weights == "q8_0" ? "q8_0" : "q6_K");
    EXPECT_EQ(written.tensor("blk.0.attn_norm.weight").dtype(), DType::f32);
    const auto x = given["model.layers.0.mlp.up_proj.weight"].values<double>();
    const auto y = written.numbers_of("blk.0.ffn_up.weight").values<double>();
    double error = 0, size = 0;
    for (size_t i = 0; i < x.size(); ++i) error += std::pow(x[i] - y[i], 2), size += x[i] * x[i];
    EXPECT_LT(std::sqrt(error / size), bound);
  }
}

TEST_F(GgufExportTest, AFileBecomesAnotherWithTheSameMetadata) {
  const LanguageModelCase c("llama");
  round_trip(c, "f16");
  const fs::path again = root_ / "again.gguf";
  const GgufWritten written = export_gguf(file_, again, {.weights = "q8_0"});
  EXPECT_EQ(written.bytes, static_cast<int64_t>(fs::file_size(again)));
  const Gguf before(file_), now(again);
  EXPECT_EQ(now.tensors().size() + now.blocks().size(), before.tensors().size());
  EXPECT_EQ(now.texts("tokenizer.ggml.tokens"), before.texts("tokenizer.ggml.tokens"));
  EXPECT_EQ(now.integer("general.file_type"), 7);
  EXPECT_EQ(name(now.blocks("blk.0.attn_q.weight").type), "q8_0");
  EXPECT_EQ(now.tensor("blk.0.ffn_down.weight").dtype(), DType::f16) << "rows of 40 are no blocks of 32";
}

TEST_F(GgufExportTest, WhatGgufHasNoWordsForIsAnError) {
  LanguageModelCase c("llama");
  const auto error_for = [&](const std::string& weights) { return error_of([&] { round_trip(c, weights); }); };
  EXPECT_NE(error_for("q2_K").find("expected one of q8_0, q4_0"), std::string::npos);
  EXPECT_NE(error_of([&] { round_trip(LanguageModelCase("mistral")); }).find("windows of attention"),
            std::string::npos);
  EXPECT_NE(error_of([&] { round_trip(LanguageModelCase("gemma2")); }).find("query_pre_attn_scalar"),
            std::string::npos);
  c.write(root_ / "cased", 0);
  write_text(root_ / "cased/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nHello\nworld\n");
  write_text(root_ / "cased/tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_NE(error_of([&] { export_gguf(root_ / "cased", file_, {}); }).find("other ids"), std::string::npos);
  fs::create_directories(root_ / "other");
  write_text(root_ / "other/config.json", R"({"model_type": "bag_of_words", "labels": ["a", "b"]})");
  EXPECT_NE(error_of([&] { export_gguf(root_ / "other", file_, {}); }), "no error");
  EXPECT_FALSE(fs::exists(file_));
}

}  // namespace
}  // namespace fovea
