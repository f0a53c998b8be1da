#include "fovea/data/text/words.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/text/bytes.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> cut(const std::string& text) {
  std::vector<std::string> words;
  for (Span span : split_words(text)) words.emplace_back(piece_of(text, span));
  return words;
}

Words trained(std::vector<std::string> texts, const Words::Options& options = {}) {
  size_t at = 0;
  return Words::train(TextSource([&](std::string& text) {
                        if (at == texts.size()) return false;
                        text = texts[at++];
                        return true;
                      }),
                      options);
}

class Saved : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_words_" + std::to_string(getpid()));
};

// As the Penn Treebank and CoNLL 2003 cut them.
TEST(SplitWords, LikeTheTreebank) {
  using W = std::vector<std::string>;
  const std::pair<std::string, W> cases[] = {
      {"", {}},
      {" \t\u00a0", {}},
      {"Hello, world!", {"Hello", ",", "world", "!"}},
      {"Dr. Who's here.", {"Dr.", "Who", "'s", "here", "."}},
      {"I don't; we'll see", {"I", "do", "n't", ";", "we", "'ll", "see"}},
      {"the U.S. and R.H. Smith.", {"the", "U.S.", "and", "R.H.", "Smith", "."}},
      {"J. Smith", {"J.", "Smith"}},
      {"see example.com.", {"see", "example.com", "."}},
      {"1996-08-22 3.5 $5", {"1996-08-22", "3.5", "$", "5"}},
      {"wait... \"what\"--no", {"wait", "...", "\"", "what\"--no"}},
      {"(a)", {"(", "a", ")"}},
      {"@paul #tag # @", {"@paul", "#tag", "#", "@"}},
      {"Straße„süß“", {"Straße„süß", "“"}},
      {"it’s 👩 ok", {"it", "’s", "👩", "ok"}},
      {"'s", {"'", "s"}},
      {"in 1999.", {"in", "1999", "."}},
      {"well-known\nlines", {"well-known", "lines"}},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(cut(text), expected) << text;
}

// Each would take minutes if a full stop or a mark looked at all that stands before it.
TEST(SplitWords, LongChunksTakeLinearTime) {
  const auto repeated = [](std::string_view text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
  };
  const int many = 300'000;
  EXPECT_EQ(split_words(repeated("(", many)).size(), size_t{many});
  EXPECT_EQ(split_words("a" + repeated("?.", many)).size(), size_t{2 * many + 1});
  EXPECT_EQ(split_words(repeated("a.", many) + repeated("?.", many)).size(), size_t{2 * many + 1});
  EXPECT_EQ(split_words(repeated("a.", many)).size(), 1u);
  // Marks above and below in turn, which the normal form sorts.
  const std::string marks = "a" + repeated("\u0301\u0316", many / 4);
  EXPECT_EQ(code_points(nfkc(marks)).size(), size_t{many / 2});
}

TEST(WordsTokenizer, ByFrequencyThenByBytes) {
  const Words t = trained({"b a c c", "b c a"}, {.vocabulary = 6});
  EXPECT_EQ(t.size(), 6);
  EXPECT_EQ(t.piece(0), "<pad>");
  EXPECT_EQ(t.piece(4), "c");
  EXPECT_EQ(t.piece(5), "a");
  const Tokens tokens = t.encode("c  b a");
  EXPECT_EQ(tokens.ids, (std::vector<int64_t>{4, t.special().unk, 5}));
  EXPECT_EQ(tokens.spans, (std::vector<Span>{{0, 1}, {3, 4}, {5, 6}}));
  EXPECT_EQ(t.decode(std::vector<int64_t>{1, 4, 5, 3, 2, 0}), "c a <unk>");
  EXPECT_EQ(trained({"a a b"}, {.at_least = 2}).size(), 5);
}

TEST(WordsTokenizer, NormalFormsAreOneWordAndSpansAreTheUsers) {
  const Words t = trained({"café ﬁne １９"}, {.lower_case = true, .zero_digits = true});
  const std::string text = "CAFE\u0301 FINE 42";
  const Tokens tokens = t.encode(text);
  EXPECT_EQ(tokens.ids, t.encode("café ﬁne １９").ids);
  EXPECT_EQ(std::count(tokens.ids.begin(), tokens.ids.end(), t.special().unk), 0);
  EXPECT_EQ(piece_of(text, tokens.spans[0]), "CAFE\u0301");
}

TEST(WordsTokenizer, CharactersKeepTheirCase) {
  const Words t = trained({"Anna"}, {.lower_case = true});
  EXPECT_EQ(t.characters_size(), 4 + 3);
  const std::vector<int64_t> ids = t.characters("naAx");
  EXPECT_EQ(ids[3], t.special().unk);
  EXPECT_NE(ids[1], ids[2]);
  EXPECT_EQ(t.characters("").size(), 0u);
}

TEST(WordsTokenizer, NoTextCanSpellASpecialToken) {
  bool given = false;
  const Words t = Words::train(
      [&](std::vector<std::string>& words) {
        words = {"<pad>", "<s>", "real"};
        return !std::exchange(given, true);
      },
      {});
  EXPECT_EQ(t.size(), 5);
  EXPECT_EQ(t.id_of("<pad>"), t.special().unk);
  EXPECT_EQ(t.id_of("</s>"), t.special().unk);
  EXPECT_EQ(t.id_of("real"), 4);
}

TEST_F(Saved, WordsComeBack) {
  const Words t = trained({"one \"two\" naïve 漢字 👩", "one"}, {.lower_case = true});
  t.save(folder_);
  const auto again = load_tokenizer(folder_);
  EXPECT_EQ(again->kind(), "words");
  for (int64_t id = 0; id < t.size(); ++id) EXPECT_EQ(again->piece(id), t.piece(id));
  EXPECT_EQ(again->encode("ONE naïve x").ids, t.encode("ONE naïve x").ids);
  EXPECT_EQ(dynamic_cast<const Words&>(*again).characters("naïve"), t.characters("naïve"));
}

TEST_F(Saved, DamagedVocabulariesAreErrors) {
  trained({"one two"}).save(folder_);
  const std::string good = read_text(folder_ / "vocabulary.json");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string cases[] = {"",
                               "[]",
                               "{}",
                               good.substr(0, good.size() / 2),
                               replaced("\"words\"", "\"nonsense\""),
                               replaced("\"one\"", "7"),
                               replaced("\"one\"", "\"two\""),
                               replaced("<pad>", "<pat>"),
                               replaced("\"lower_case\"", "\"lowercase\""),
                               replaced("\"characters\"", "\"letters\""),
                               replaced("\"w\"", "\"wo\""),
                               replaced("\"w\"", "\"\""),
                               replaced("\"w\"", "\"o\""),
                               good + std::string(1, '\0'),
                               good + "{}",
                               "{\"kind\": \"words\", \"lower_case\": false, \"zero_digits\": false, \"words\": [], "
                               "\"characters\": []}"};
  for (const std::string& text : cases) {
    write_text(folder_ / "vocabulary.json", text);
    EXPECT_THROW(load_tokenizer(folder_), Error) << text;
  }
  fs::remove(folder_ / "vocabulary.json");
  EXPECT_THROW(load_tokenizer(folder_), Error);
  EXPECT_THROW(load_tokenizer(folder_ / "missing"), Error);
}

TEST_F(Saved, BytesGiveBackEverything) {
  std::string text;
  for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
  Bytes().save(folder_);
  const auto t = load_tokenizer(folder_);
  EXPECT_EQ(t->kind(), "bytes");
  EXPECT_EQ(t->size(), 260);
  const Tokens tokens = t->encode(text);
  EXPECT_EQ(t->decode(tokens.ids), text);
  for (int64_t i = 0; i < 256; ++i) {
    EXPECT_EQ(tokens.ids[static_cast<size_t>(i)], 4 + i);
    EXPECT_EQ(tokens.spans[static_cast<size_t>(i)], (Span{i, i + 1}));
    EXPECT_EQ(t->id_of(t->piece(4 + i)), 4 + i);
  }
  EXPECT_EQ(t->piece(4 + 0xC3), "<0xC3>");
  EXPECT_EQ(t->decode(std::vector<int64_t>{1, 4 + 'a', 2, 0}), "a");
  EXPECT_THROW(t->decode(std::vector<int64_t>{260}), Error);
}

}  // namespace
}  // namespace fovea
