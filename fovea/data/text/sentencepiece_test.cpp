#include "fovea/data/text/sentencepiece.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

const fs::path golden = fs::path(test_data) / "golden/tokenizers";

TextSource from(std::vector<std::string> texts) {
  auto at = std::make_shared<size_t>(0);
  return [texts = std::move(texts), at](std::string& text) {
    if (*at == texts.size()) return false;
    text = texts[(*at)++];
    return true;
  };
}

std::vector<std::string> little_text() {
  return nlohmann::json::parse(read_text(golden / "ids.json"))["lines"].get<std::vector<std::string>>();
}

const std::vector<std::string> odd_texts = {"",
                                            " ",
                                            "a",
                                            "  two  spaces  ",
                                            "ﬁnd the ﬂower",
                                            "ａｂｃ　ｄｅｆ",
                                            "１９３１",
                                            "½ ™ ㌔",
                                            "e\u0301 é",
                                            "👩‍👩‍👧 ok",
                                            "漢字仮名",
                                            "tab\tinside",
                                            "no\u00a0break",
                                            "zero\u200bwidth",
                                            "İstanbul ŉ ẞ",
                                            "x…y",
                                            "سلام",
                                            "नमस्ते"};

// Spans are whole characters, in order, and leave out white space only.
void expect_good_spans(const Tokenizer& tokenizer, const std::string& text) {
  const Tokens tokens = tokenizer.encode(text);
  ASSERT_EQ(tokens.ids.size(), tokens.spans.size());
  std::vector<bool> covered(text.size(), false);
  int64_t begin = 0, end = 0;
  for (Span span : tokens.spans) {
    ASSERT_TRUE(0 <= span.begin && span.begin <= span.end && span.end <= static_cast<int64_t>(text.size())) << text;
    EXPECT_GE(span.begin, begin) << text;
    EXPECT_GE(span.end, end) << text;
    begin = span.begin, end = span.end;
    EXPECT_EQ(invalid_utf8(piece_of(text, span)), std::string_view::npos) << text;
    std::fill(covered.begin() + begin, covered.begin() + end, true);
  }
  for (const CodePoint& c : code_points(text)) {
    if (is_space(c.value)) continue;
    EXPECT_TRUE(covered[static_cast<size_t>(c.span.begin)]) << text << " byte " << c.span.begin;
  }
}

TEST(SentencePieceTokenizer, SameIdsAndTextsAsThePythonPackage) {
  const nlohmann::json expected = nlohmann::json::parse(read_text(golden / "ids.json"));
  for (const std::string kind : {"unigram", "bpe"}) {
    const auto tokenizer = load_tokenizer(golden / (kind + ".model"));
    EXPECT_EQ(tokenizer->kind(), kind);
    for (size_t i = 0; i < expected["lines"].size(); ++i) {
      const auto line = expected["lines"][i].get<std::string>();
      const Tokens tokens = tokenizer->encode(line);
      EXPECT_EQ(tokens.ids, expected[kind][i].get<std::vector<int64_t>>()) << kind << ": " << line;
      EXPECT_EQ(tokenizer->decode(tokens.ids), expected[kind + "_decoded"][i].get<std::string>())
          << kind << ": " << line;
      expect_good_spans(*tokenizer, line);
    }
  }
}

TEST(SentencePieceTokenizer, SpansOfTheUsersOwnText) {
  const auto tokenizer = load_tokenizer(golden / "unigram.model");
  const std::string text = "The  cook ﬁnd　１９";
  const Tokens tokens = tokenizer->encode(text);
  std::string joined;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const std::string_view own = piece_of(text, tokens.spans[i]);
    EXPECT_FALSE(own.starts_with(' ') && own.size() > 1) << own;
    if (tokens.spans[i].begin < 11) joined += own;  // before the ligature each byte belongs to one piece
  }
  EXPECT_EQ(joined.substr(0, 7), "Thecook");
  EXPECT_EQ(piece_of(text, tokens.spans.back()).substr(0, 3).size(), 3u);
  EXPECT_EQ(tokens.spans.back().end, static_cast<int64_t>(text.size()));
}

class Trained : public testing::TestWithParam<SentencePiece::Model> {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_spm_" + std::to_string(getpid()));
};

TEST_P(Trained, NfkcSpansAndRoundTrips) {
  const SentencePiece t =
      SentencePiece::train(from(little_text()), {.model = GetParam(), .vocabulary = 420, .byte_fallback = true});
  EXPECT_EQ(t.piece(0), "<pad>");
  EXPECT_EQ(t.special().pad, 0);
  EXPECT_EQ(t.special().bos, 1);
  EXPECT_EQ(t.special().eos, 2);
  EXPECT_EQ(t.special().unk, 3);
  for (const std::string& text : odd_texts) {
    expect_good_spans(t, text);
    // Unknown characters are spelled in bytes, so that only the normalisation changes a text; without white space at its
    // ends that is NFKC for all but the marks that SentencePiece takes for white space.
    if (text.find("\u200b") == text.npos && text.find("\u200d") == text.npos && text.find("  ") == text.npos &&
        text.find('\t') == text.npos && text != " ") {
      EXPECT_EQ(t.decode(t.encode(text).ids), nfkc(text));
    }
  }
}

TEST_P(Trained, WithoutNormalizationEveryTextComesBack) {
  const SentencePiece t =
      SentencePiece::train(from(little_text()), {.model = GetParam(),
                                                 .vocabulary = 420,
                                                 .normalization = SentencePiece::Normalization::none,
                                                 .byte_fallback = true});
  for (const std::string& text : odd_texts) {
    EXPECT_EQ(t.decode(t.encode(text).ids), text);
    expect_good_spans(t, text);
  }
}

TEST_P(Trained, SameBytesAgainAndAfterSaving) {
  const SentencePiece::Options options = {.model = GetParam(), .vocabulary = 150, .sentences = 50, .seed = 5};
  const SentencePiece a = SentencePiece::train(from(little_text()), options);
  const SentencePiece b = SentencePiece::train(from(little_text()), options);
  a.save(folder_ / "a");
  b.save(folder_ / "b");
  EXPECT_EQ(read_text(folder_ / "a/spiece.model"), read_text(folder_ / "b/spiece.model"));
  const auto loaded = load_tokenizer(folder_ / "a");
  EXPECT_EQ(loaded->kind(), a.kind());
  EXPECT_EQ(loaded->size(), a.size());
  for (const std::string& text : odd_texts) {
    EXPECT_EQ(loaded->encode(text).ids, a.encode(text).ids);
    EXPECT_EQ(loaded->encode(text).spans, a.encode(text).spans);
  }
}

TEST_P(Trained, LowerCaseAndUnknown) {
  const SentencePiece t = SentencePiece::train(
      from(little_text()),
      {.model = GetParam(), .vocabulary = 150, .normalization = SentencePiece::Normalization::nfkc_lower_case});
  EXPECT_EQ(t.encode("THE COOK").ids, t.encode("the cook").ids);
  const Tokens tokens = t.encode("the ☃ cook");
  const auto unknown = std::find(tokens.ids.begin(), tokens.ids.end(), t.special().unk);
  ASSERT_NE(unknown, tokens.ids.end());
  EXPECT_EQ(piece_of("the ☃ cook", tokens.spans[static_cast<size_t>(unknown - tokens.ids.begin())]), "☃");
}

TEST_P(Trained, BadOptionsAndTextsAreErrors) {
  const auto train = [](std::vector<std::string> texts, SentencePiece::Options o) {
    o.model = GetParam();
    return SentencePiece::train(from(std::move(texts)), o);
  };
  EXPECT_THROW(train({}, {}), Error);
  EXPECT_THROW(train({"", ""}, {}), Error);
  EXPECT_THROW(train({"abc"}, {.vocabulary = 4}), Error);
  EXPECT_THROW(train({"abcdefghijklmnop"}, {.vocabulary = 8}), Error);
  EXPECT_THROW(train({"abc"}, {.coverage = 0}), Error);
  EXPECT_THROW(train({"abc\xff"}, {}), Error);
  EXPECT_LE(train({"abc abc"}, {.vocabulary = 8000}).size(), 20);
  const SentencePiece t = train({"abc abc"}, {.vocabulary = 8000});
  EXPECT_THROW(t.encode("\xff"), Error);
  EXPECT_THROW(t.decode(std::vector<int64_t>{t.size()}), Error);
  EXPECT_THROW(t.decode(std::vector<int64_t>{-1}), Error);
  EXPECT_THROW(t.piece(t.size()), Error);
}

INSTANTIATE_TEST_SUITE_P(SentencePieceTokenizer, Trained,
                         testing::Values(SentencePiece::Model::unigram, SentencePiece::Model::bpe),
                         [](const auto& info) { return info.param == SentencePiece::Model::bpe ? "Bpe" : "Unigram"; });

// A model of the pieces <unk>, ▁, a and b whose normalisation looks bytes up in these 256 units and the text "b".
class CraftedTable {
 public:
  CraftedTable() {
    units[0] = 0;                                      // the root leads from byte c to unit c
    units['a'] = 'a' | 1u << 8 | ('a' ^ 0x10u) << 10;  // which for 'a' has its leaf at 0x10
    units[0x10] = 1u << 31;                            // the text at 0
  }
  std::vector<uint32_t> units = std::vector<uint32_t>(256, 1u << 31);

  std::unique_ptr<Tokenizer> load() const {
    const fs::path file = fs::path(testing::TempDir()) / ("fovea_crafted_" + std::to_string(getpid()) + ".model");
    std::string table = bytes_of(static_cast<uint32_t>(units.size() * 4));
    for (const uint32_t unit : units) table += bytes_of(unit);
    table += std::string("b\0", 2);
    const std::string unknown = message(1, "<unk>") + std::string("\x18\x02", 2);
    write_text(file, message(1, unknown) + message(1, message(1, "\u2581")) + message(1, message(1, "a")) +
                         message(1, message(1, "b")) + message(3, message(2, table)));
    std::unique_ptr<Tokenizer> tokenizer;
    try {
      tokenizer = load_tokenizer(file);
    } catch (const Error&) {
    }
    fs::remove(file);
    return tokenizer;
  }

 private:
  static std::string bytes_of(uint32_t value) { return {reinterpret_cast<const char*>(&value), 4}; }
  static std::string message(int field, const std::string& text) {
    std::string bytes(1, static_cast<char>(field << 3 | 2));
    size_t size = text.size();
    for (; size >= 128; size >>= 7) bytes += static_cast<char>(size | 128);
    return bytes + static_cast<char>(size) + text;
  }
};

TEST(SentencePieceTokenizer, TablesAreSearchedInsideOnly) {
  const auto good = CraftedTable().load();
  ASSERT_TRUE(good);
  EXPECT_EQ(good->encode("a").ids, (std::vector<int64_t>{1, 3}));  // "a" is normalised to "b"

  CraftedTable leaf;  // a leaf's value is read whatever its top bit is
  leaf.units[0x10] = 0x7f;
  EXPECT_FALSE(leaf.load());
  leaf.units[0x10] = 1u << 31 | 2;
  EXPECT_FALSE(leaf.load());
  leaf.units[0x10] = 1u << 31 | 1;
  EXPECT_TRUE(leaf.load());

  CraftedTable root;  // the search begins there even if the top bit says that it is no inner unit
  root.units[0] = 1u << 31 | 1u << 10;
  EXPECT_FALSE(root.load());

  CraftedTable far;
  far.units['a'] = 'a' | 1u << 9 | 1u << 10;  // an offset of 256
  EXPECT_FALSE(far.load());
}

// In one piece the library would copy the growing unknown stretch for each of its characters: minutes.
TEST(SentencePieceTokenizer, LongTextsAreCutWhereNobodySees) {
  std::string emoji;
  for (int i = 0; i < 1'000'000; ++i) emoji += "👩";
  const auto tokenizer = load_tokenizer(golden / "unigram.model");
  const Tokens tokens = tokenizer->encode(emoji);
  ASSERT_EQ(tokens.ids, tokenizer->encode("👩👩").ids);
  EXPECT_EQ(tokens.spans.back(), (Span{0, static_cast<int64_t>(emoji.size())}));

  for (const char* name : {"unigram.model", "bpe.model"}) {
    const auto t = load_tokenizer(golden / name);
    std::string text;
    std::vector<int64_t> ids;
    for (int round = 0; round < 60; ++round) {
      for (const std::string& line : little_text()) {
        const std::vector<int64_t> part = t->encode(line).ids;
        ids.insert(ids.end(), part.begin(), part.end());
        text += (text.empty() ? "" : " ") + line;
      }
    }
    ASSERT_GT(text.size(), 100'000u);
    EXPECT_EQ(t->encode(text).ids, ids) << name;
    expect_good_spans(*t, text);
  }
}

TEST_P(Trained, LearnsFromLongLinesWithoutSpaces) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += "abcab"[i % 5];
  const SentencePiece t = SentencePiece::train(from({text, "abc cab"}), {.model = GetParam(), .vocabulary = 30});
  EXPECT_LE(t.encode("abcababcab").ids.size(), 10u);
}

// Whatever a damaged file does, it does not read outside of its tables: it is an Error, or a model that works.
TEST(SentencePieceTokenizer, DamagedFilesAreErrorsOrWork) {
  const fs::path file = fs::path(testing::TempDir()) / ("fovea_damaged_" + std::to_string(getpid()) + ".model");
  const std::string good = read_text(golden / "bpe.model");
  uint32_t x = 7;
  const auto random = [&] { return (x = x * 1664525 + 1013904223) >> 8; };
  int errors = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = good;
    for (uint32_t i = 0; i < 1 + round % 3u; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 8 == 0) bytes.resize(random() % bytes.size());
    write_text(file, bytes);
    try {
      const auto t = load_tokenizer(file);
      for (const std::string& text : odd_texts) t->decode(t->encode(text).ids);
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 50);
  for (const char* text : {"", "hello", "{}"}) {
    write_text(file, text);
    EXPECT_THROW(load_tokenizer(file), Error);
  }
  fs::remove(file);
}

}  // namespace
}  // namespace fovea
