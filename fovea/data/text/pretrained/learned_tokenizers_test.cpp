// What is learned here is what Hugging Face's tokenizers learns (tests/golden/make_learned_tokenizers.py), and gives every text back.
#include "fovea/data/text/pretrained/learned_tokenizers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/data/text/pretrained/learn_pieces.h"
#include "test_paths.h"

namespace fovea {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

TextSource once(const std::string& text) {
  return [text, given = false](std::string& into) mutable {
    into = text;
    return !std::exchange(given, true);
  };
}

class LearnedTokenizers : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  std::unique_ptr<Tokenizer> stored(const Tokenizer& t) const {
    t.save(folder_);
    return load_tokenizer(folder_);
  }

  Json golden_ = parse_json(read_text(fs::path(test_data) / "golden" / "learned_tokenizers.json"), "golden");
  std::string text_ = golden_["text"];
  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_learned_" + std::to_string(getpid()));
};

TEST_F(LearnedTokenizers, ByteBpeJoinsThePairsThatTheLibraryJoins) {
  for (const auto& [size, expected] : golden_["sizes"].items()) {
    const auto t = learn_byte_bpe(once(text_), {.vocabulary = std::stoll(size)});
    const std::vector<std::string> pieces = expected["pieces"];
    ASSERT_EQ(t->size(), 258 + static_cast<int64_t>(pieces.size())) << size;
    for (size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(t->piece(258 + static_cast<int64_t>(i)), pieces[i]) << size;
    EXPECT_EQ(t->encode(text_).ids, expected["ids"].get<std::vector<int64_t>>()) << size;
  }
}

TEST_F(LearnedTokenizers, StoredAndLoadedTheyGiveEveryTextBack) {
  const std::string strange = "Ünknown \n\n\t  words,\r\n and 世界 🙂";
  const auto bytes = learn_byte_bpe(once(text_), {.vocabulary = 300});
  const auto characters = learn_characters(once(text_ + strange));
  for (const Tokenizer* t : {bytes.get(), characters.get()}) {
    const auto again = stored(*t);
    EXPECT_EQ(again->size(), t->size());
    EXPECT_EQ(again->encode(strange).ids, t->encode(strange).ids);
    EXPECT_EQ(again->decode(again->encode(strange).ids), strange) << t->kind();
    EXPECT_EQ(again->special().bos, 0);
    EXPECT_EQ(again->special().eos, 0);
    EXPECT_EQ(again->special().pad, 1);
    EXPECT_FALSE(again->frames());
    fs::remove_all(folder_);
  }
}

TEST_F(LearnedTokenizers, EachCharacterHasAnIdAndOthersAreUnknown) {
  const auto t = learn_characters(once("abcab\n"));
  EXPECT_EQ(t->size(), 3 + 4);
  EXPECT_EQ(t->encode("cab\n").ids, (std::vector<int64_t>{6, 4, 5, 3}));
  EXPECT_EQ(t->encode("é").ids, (std::vector<int64_t>{t->special().unk}));
}

TEST_F(LearnedTokenizers, PairsAreJoinedByCountAndThenByTheirOrder) {
  // ab stands there 5 times, bc 5 times, cd 4 times: ab came first; then c and d, because a b c is "ab" "c" by now.
  const LearnedPieces found = learn_pieces({{"abc", 3}, {"ab", 2}, {"bcd", 2}, {"cd", 2}}, {.pieces = 7});
  EXPECT_EQ(found.pieces, (std::vector<std::string>{"a", "b", "c", "d", "ab", "cd", "abc"}));
  EXPECT_EQ(learn_pieces({{"abc", 1}}, {.pieces = 9}).merges.size(), 0u) << "what stands there once is no piece";
}

}  // namespace
}  // namespace fovea
