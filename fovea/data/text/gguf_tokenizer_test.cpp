// Against the ids of SentencePiece and of Hugging Face's tokenizers for the same vocabularies (tests/golden/make_gguf.py).
#include "fovea/data/text/gguf_tokenizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
const fs::path golden = fs::path(test_data) / "golden" / "gguf";

TEST(GgufTokenizer, GivesTheIdsOfTheTokenizerThatItCameFrom) {
  const nlohmann::json all = parse_json(read_text(golden / "tokenizers.json"), "tokenizers.json");
  for (const auto& [kind, ids] : all["ids"].items()) {
    const auto tokenizer = gguf_tokenizer(Gguf(golden / ("tokenizer_" + kind + ".gguf")));
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto text = all["texts"][i].get<std::string>();
      EXPECT_EQ(tokenizer->encode(text).ids, ids[i].get<std::vector<int64_t>>()) << kind << ": " << text;
    }
  }
}

TEST(GgufTokenizer, FramesAsTheFileSays) {
  const auto bert = gguf_tokenizer(Gguf(golden / "tokenizer_bert.gguf"));
  EXPECT_EQ(bert->frame(bert->encode("the cat")).ids, (std::vector<int64_t>{2, 6, 7, 3}));
  const auto gpt2 = gguf_tokenizer(Gguf(golden / "tokenizer_gpt2.gguf"));
  EXPECT_EQ(gpt2->frame(gpt2->encode("")).ids, (std::vector<int64_t>{0}));
  EXPECT_EQ(gpt2->decode(gpt2->encode("It's 2024, Grüße").ids), "It's 2024, Grüße");
}

TEST(GgufTokenizer, WhatIsNotKnownOrDamagedIsAnError) {
  const fs::path path = fs::path(testing::TempDir()) / ("fovea_tokenizer_" + std::to_string(getpid()) + ".gguf");
  const auto error = [&](const char* key, const GgufValue& value) -> std::string {
    GgufMetadata metadata = Gguf(golden / "tokenizer_gpt2.gguf").metadata();
    metadata[key] = value;
    write_gguf(path, metadata, {});
    try {
      gguf_tokenizer(Gguf(path));
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error("tokenizer.ggml.model", GgufValue::of("rwkv")), "'rwkv', expected llama");
  has(error("tokenizer.ggml.pre", GgufValue::of("newest")), "'newest', expected one of gpt-2");
  has(error("tokenizer.ggml.token_type", GgufValue::of(std::vector<int32_t>{1})), "as many of each");
  has(error("tokenizer.ggml.merges", GgufValue::of(std::vector<std::string>{"ab"})), "expected two pieces");
  has(error("tokenizer.ggml.bos_token_id", GgufValue::of(uint32_t{5000000})), "5000000");
  fs::remove(path);
}

}  // namespace
}  // namespace fovea
