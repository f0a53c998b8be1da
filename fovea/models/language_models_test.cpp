// Language models of others: the numbers of Transformers (tests/golden/make_language_models.py), read from folders as it writes them.
#include <set>

#include "fovea/models/language_model_golden.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class EveryLanguageModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(LanguageModels, EveryLanguageModel, testing::ValuesIn(golden_language_models()),
                         [](const auto& info) { return info.param; });

TEST_P(EveryLanguageModel, HasTheLogitsOfTransformersInEverySpellingOfItsConfig) {
  const LanguageModelCase c(GetParam());
  for (size_t spelling : {0, 1}) {
    SCOPED_TRACE(spelling);
    std::vector<std::string> notes;
    const auto model = c.load(spelling, {.note = [&](const std::string& line) { notes.push_back(line); }});
    for_each_simd([&] { c.expect_golden(*model); });
    EXPECT_EQ(notes, std::vector<std::string>());
  }
}

TEST_P(EveryLanguageModel, IsSavedUnderTheNamesOfTransformers) {
  const LanguageModelCase c(GetParam());
  const auto model = c.load(0);
  const NamedTensors saved = save(*model);
  std::set<std::string> found, expected;
  for (const auto& [name, tensor] : saved) found.insert(name);
  for (const auto& [name, tensor] : c.weights) expected.insert(name);
  EXPECT_EQ(found, expected);
  LanguageModelCase again = c;
  again.configs = {nlohmann::json::parse(model->config())};
  again.expect_golden(*again.load(0));
}

TEST(LanguageModels, BuffersAndTiedOutputsInFilesArePassedOver) {
  LanguageModelCase gpt2("gpt2"), bare("gpt2"), llama("llama_bias");
  gpt2.weights["transformer.h.0.attn.bias"] = ones({1, 1, 64, 64});
  gpt2.weights["transformer.h.0.attn.masked_bias"] = full({1}, -1e4);
  gpt2.weights["lm_head.weight"] = zeros({37, 32});
  gpt2.expect_golden(*gpt2.load(0));
  bare.weights.clear();
  for (const auto& [name, tensor] : LanguageModelCase("gpt2").weights)
    bare.weights[name.substr(name.find('.') + 1)] = tensor;
  bare.weights["h.1.attn.bias"] = ones({1, 1, 64, 64});
  bare.expect_golden(*bare.load(0));
  llama.weights["model.layers.0.self_attn.rotary_emb.inv_freq"] = ones({5});
  llama.weights["lm_head.weight"] = zeros({37, 32});
  llama.expect_golden(*llama.load(0));
}

TEST(LanguageModels, EndsMayBeSeveralAndPaddingNone) {
  const auto model = LanguageModelCase("llama_bias").load(0);
  EXPECT_EQ(as<Generator>(*model).end_ids(), (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(as<Generator>(*model).special_ids().pad, -1);
  EXPECT_EQ(as<Generator>(*model).special_ids().bos, 1);
}

// The folder of a model that reads pictures too: its config and weights of texts stand inside of others.
TEST(LanguageModels, TheTextPartOfAModelOfPicturesIsRead) {
  for (const std::string prefix : {"language_model.", "model.language_model."}) {
    LanguageModelCase c("gemma3");
    c.configs[0] = {{"model_type", "gemma3"},
                    {"architectures", {"Gemma3ForConditionalGeneration"}},
                    {"text_config", c.configs[0]},
                    {"vision_config", {{"hidden_size", 16}}},
                    {"eos_token_id", {1, 106}}};
    NamedTensors nested = {{"vision_tower.embeddings.weight", ones({3, 4})}};
    for (const auto& [name, tensor] : c.weights)
      nested[prefix == "language_model." ? prefix + name : prefix + name.substr(name.find('.') + 1)] = tensor;
    c.weights = nested;
    std::string notes;
    c.expect_golden(*c.load(0, {.note = [&](const std::string& line) { notes += line; }}));
    EXPECT_NE(notes.find("vision_tower.embeddings.weight"), std::string::npos) << notes;
  }
}

// Rows of queries and keys whose pairs are neighbours, as GGUF has them, with the key that says so.
TEST(LanguageModels, InterleavedPairsAreTheSameModel) {
  LanguageModelCase c("llama");
  const int64_t width = 8;
  for (auto& [name, tensor] : c.weights) {
    if (!name.ends_with("q_proj.weight") && !name.ends_with("k_proj.weight")) continue;
    const int64_t rows = tensor.size(0);
    tensor = tensor.reshape({rows / width, 2, width / 2, 32}).permute({0, 2, 1, 3}).contiguous().reshape({rows, 32});
  }
  c.configs[0]["rope_interleaved"] = true;
  c.expect_golden(*c.load(0));
}

TEST(LanguageModels, TheOneOfGemmasNormsMayBeInTheWeights) {
  for (const char* name : {"gemma2", "gemma3"}) {
    LanguageModelCase c(name);
    for (auto& [path, tensor] : c.weights)
      if (path.ends_with("norm.weight")) tensor = tensor + 1;
    c.configs[0]["norm_plus_one"] = false;
    c.expect_golden(*c.load(0));
  }
}

TEST(LanguageModels, WhatWouldChangeTheNumbersAndIsNotKnownIsRefused) {
  struct Wrong {
    const char *name, *key;
    nlohmann::json value;
  };
  for (const auto& [name, key, value] :
       std::vector<Wrong>{{"llama", "hidden_act", "quick_gelu"},
                          {"llama", "rope_scaling", {{"type", "mrope"}, {"factor", 2}}},
                          {"llama", "quantization_config", {{"bits", 4}}},
                          {"llama", "qkv_bias", true},
                          {"llama", "eos_token_id", 99},
                          {"llama", "num_key_value_heads", 3},
                          {"llama", "rope_scaling", {{"type", "linear"}}},
                          {"mistral", "attention_bias", true},
                          {"qwen2", "layer_types", {"sliding_attention"}},
                          {"gemma2", "use_bidirectional_attention", true},
                          {"phi3_long", "partial_rotary_factor", 0.3},
                          {"gpt2", "add_cross_attention", true},
                          {"gpt2", "activation_function", "sine"},
                          {"gpt2", "n_head", 5}}) {
    LanguageModelCase c(name);
    c.configs[0][key] = value;
    EXPECT_THROW(c.load(0), Error) << name << " " << key;
  }
}

TEST(LanguageModels, AHeadOfAnyWidthTakesNoMemory) {
  LanguageModelCase c("llama_yarn");
  c.configs[0]["num_attention_heads"] = c.configs[0]["num_key_value_heads"] = 1;
  c.configs[0]["hidden_size"] = 1 << 30;
  EXPECT_THROW(c.load(0), Error);
}

TEST(LanguageModels, LongRopeEndsWhereItsNumbersWouldChange) {
  const auto model = LanguageModelCase("phi3_long").load(0);
  EXPECT_EQ(as<Generator>(*model).longest(), 32);
  EXPECT_NO_THROW(as<Generator>(*model).logits({}, zeros({1, 32}, DType::i64), {}));
  EXPECT_THROW(as<Generator>(*model).logits({}, zeros({1, 33}, DType::i64), {}), Error);
}

std::string from_base64(const std::string& text) {
  static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(letters.find(c));
    if ((count += 6) >= 8) bytes.push_back(static_cast<char>(bits >> (count -= 8)));
  }
  return bytes;
}

Tensor from_shown(const nlohmann::json& shown) {
  Shape shape;
  for (int64_t size : shown.at("shape")) shape.push_back(size);
  const std::string bytes = from_base64(shown.at("data"));
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return tensor(shape, values);
}

// A GPT that learnt to sort letters, with what each of its layers gave where it was trained; if it stands beside the repository.
TEST(LanguageModels, ATrainedGptSortsAsItDidWhereItWasTrained) {
  const fs::path shared = fs::path(test_data) / ".." / ".." / "shared" / "data" / "gpt_nano_sort";
  if (!fs::exists(shared)) GTEST_SKIP() << "needs " << shared;
  const auto model = nlohmann::json::parse(read_text(shared / "model.json"));
  const auto reference = nlohmann::json::parse(read_text(shared / "reference_activations.json"));
  LanguageModelCase c("gpt2");
  c.name = "gpt_nano_sort";
  c.weights.clear();
  for (const auto& [name, shown] : model.items()) {
    if (name == "config") continue;
    const Tensor w = from_shown(shown);
    const bool turned = name.find(".c_") != std::string::npos && w.rank() == 2;
    c.weights[name] = turned ? w.transpose(0, 1).contiguous() : w;
  }
  c.configs = {{{"model_type", "gpt2"},
                {"vocab_size", 3},
                {"n_positions", 11},
                {"n_embd", 48},
                {"n_layer", 3},
                {"n_head", 3},
                {"tie_word_embeddings", false},
                {"bos_token_id", -1},
                {"eos_token_id", -1}}};
  const auto gpt = c.load(0);
  const Tensor logits = as<Generator>(*gpt).logits({}, from_shown(reference.at("idx")).to(DType::i64), {});
  gradient_check::expect_near(logits, from_shown(reference.at("lm_head")), 1e-4, "logits");
}

}  // namespace
}  // namespace fovea
