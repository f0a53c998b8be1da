// Tokenizers of tests/golden written as GGUF metadata and read again: the ids that their own libraries give.
#include "fovea/data/text/gguf_vocabulary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/data/text/gguf_tokenizer.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
const fs::path golden = fs::path(test_data) / "golden";

class GgufVocabulary : public testing::Test {
 protected:
  GgufVocabulary() { fs::create_directories(folder_); }
  ~GgufVocabulary() override { fs::remove_all(folder_); }

  // The folder's tokenizer through a file.
  std::unique_ptr<Tokenizer> round_trip(int64_t more = 0) {
    const auto given = load_tokenizer(folder_);
    const fs::path file = folder_ / "vocabulary.gguf";
    write_gguf(file, gguf_vocabulary(folder_, *given, given->size() + more), {});
    auto written = gguf_tokenizer(Gguf(file));
    check_same_ids(*given, *written, "test");
    return written;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_gguf_vocabulary_" + std::to_string(getpid()));
};

TEST_F(GgufVocabulary, TokenizerJsonKeepsItsIdsOrIsRefused) {
  const nlohmann::json files = parse_json(read_text(golden / "pretrained_tokenizers/tokenizers.json"), "files");
  const nlohmann::json all = parse_json(read_text(golden / "pretrained_tokenizers/golden.json"), "golden");
  std::set<std::string> written;
  for (const auto& [name, file] : files.items()) {
    SCOPED_TRACE(name);
    write_text(folder_ / "tokenizer.json", file.dump());
    std::unique_ptr<Tokenizer> tokenizer;
    try {
      tokenizer = round_trip(3);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), Error::unsupported) << e.what();
      continue;
    }
    written.insert(name);
    for (size_t i = 0; i < all["texts"].size(); ++i) {
      const auto text = all["texts"][i].get<std::string>();
      if (text.find('<') != text.npos) continue;  // added tokens that take blanks in, which GGUF does not say
      EXPECT_EQ(tokenizer->encode(text).ids, all["tokenizers"][name]["texts"][i][0].get<std::vector<int64_t>>())
          << name << " " << i << ": " << text;
    }
  }
  EXPECT_GE(written.size(), 3u) << nlohmann::json(written).dump();
}

TEST_F(GgufVocabulary, SentencePieceModelsKeepTheirIds) {
  const nlohmann::json all = parse_json(read_text(golden / "gguf/tokenizers.json"), "tokenizers.json");
  for (const auto& [model, kind] : {std::pair{"unigram.model", "t5"}, {"bpe.model", "llama"}}) {
    SCOPED_TRACE(model);
    write_text(folder_ / "tokenizer.model", read_text(golden / "tokenizers" / model));
    std::unique_ptr<Tokenizer> tokenizer;
    try {
      tokenizer = round_trip();
    } catch (const Error& e) {
      EXPECT_EQ(kind, std::string("llama"));
      EXPECT_NE(std::string(e.what()).find("table of normalisation"), std::string::npos) << e.what();
      continue;
    }
    for (size_t i = 0; i < all["texts"].size(); ++i)
      EXPECT_EQ(tokenizer->encode(all["texts"][i].get<std::string>()).ids,
                all["ids"][kind][i].get<std::vector<int64_t>>());
  }
}

TEST_F(GgufVocabulary, EntriesBehindTheTokenizersAreUnused) {
  write_text(folder_ / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n##ing\n");
  const auto given = load_tokenizer(folder_);
  write_gguf(folder_ / "v.gguf", gguf_vocabulary(folder_, *given, 9), {});
  const Gguf file(folder_ / "v.gguf");
  EXPECT_EQ(file.texts("tokenizer.ggml.tokens"), (std::vector<std::string>{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
                                                                           "▁hello", "ing", "[PAD7]", "[PAD8]"}));
  EXPECT_EQ(file.integers("tokenizer.ggml.token_type"), (std::vector<int64_t>{3, 3, 3, 3, 3, 1, 1, 5, 5}));
  EXPECT_EQ(file.integer("tokenizer.ggml.seperator_token_id"), 3);
}

}  // namespace
}  // namespace fovea
