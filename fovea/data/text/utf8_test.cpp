#include "fovea/data/text/utf8.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Utf8, InvalidBytesAreFoundWhereTheyAre) {
  const std::pair<std::string, size_t> cases[] = {
      {"", std::string::npos},
      {"abc", std::string::npos},
      {"naïve 漢字 👩", std::string::npos},
      {std::string("a\0b", 3), std::string::npos},
      {"ab\xff", 2},
      {"\x80", 0},                  // a continuation without a start
      {"é\xc3", 2},                 // cut after the first byte
      {"x\xe6\xbc", 1},             // cut after the second
      {"\xc0\xaf", 0},              // overlong
      {"ok\xed\xa0\x80", 2},        // a surrogate
      {"\xf4\x90\x80\x80", 0},      // beyond U+10FFFF
      {"漢\xe6\xbc\xa2\xe6 x", 6},  // a start and then a letter
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(invalid_utf8(text), expected) << text;
}

TEST(Utf8, TheErrorNamesPlaceByteAndLine) {
  try {
    check_utf8("first\nsec\xffond", "a.txt");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::corrupt);
    EXPECT_EQ(std::string(e.what()).find("a.txt: byte 9 (line 2): found 0xff"), 0u) << e.what();
  }
}

TEST(Utf8, CodePointsAndBack) {
  const std::string text = "aé漢👩";
  const std::vector<CodePoint> points = code_points(text);
  const std::pair<char32_t, Span> expected[] = {{'a', {0, 1}}, {0xE9, {1, 3}}, {0x6F22, {3, 6}}, {0x1F469, {6, 10}}};
  ASSERT_EQ(points.size(), 4u);
  std::string again;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(points[i].value, expected[i].first);
    EXPECT_EQ(points[i].span, expected[i].second);
    again += to_utf8(points[i].value);
  }
  EXPECT_EQ(again, text);
  EXPECT_THROW(code_points("\xff"), Error);
  EXPECT_THROW(to_utf8(0xD800 + 0x110000), Error);
}

// The expected forms are Unicode's own examples (UAX #15, figures 5 and 6).
TEST(Utf8, NormalForms) {
  EXPECT_EQ(nfc("e\u0301"), "é");
  EXPECT_EQ(nfc("ﬁ"), "ﬁ");
  EXPECT_EQ(nfkc("ﬁ"), "fi");
  EXPECT_EQ(nfkc("１２３　ａ"), "123 a");
  EXPECT_EQ(nfkc("\u1E9B\u0323"), "\u1E69");
  EXPECT_EQ(nfc("\u1E9B\u0323"), "\u1E9B\u0323");
  EXPECT_EQ(nfc(""), "");
  EXPECT_EQ(lower_case("ÄÖ Straße ΑΒΓ"), "äö straße αβγ");
}

TEST(Utf8, SpacesAndLetters) {
  for (char32_t c : {U' ', U'\t', U'\u00a0', U'\u3000', U'\u2009', U'\u200b'}) EXPECT_TRUE(is_space(c)) << uint32_t(c);
  for (char32_t c : {U'a', U'-', U'漢', U'\0'}) EXPECT_FALSE(is_space(c)) << uint32_t(c);
  for (char32_t c : {U'a', U'ß', U'漢', U'7', U'٣', U'\u0301'}) EXPECT_TRUE(is_word_character(c)) << uint32_t(c);
  for (char32_t c : {U'.', U'-', U'$', U'👩', U' '}) EXPECT_FALSE(is_word_character(c)) << uint32_t(c);
  const std::string text = "x\u3000 é \u00a0y";
  EXPECT_EQ(piece_of(text, without_spaces(text, {1, 10})), "é");
  EXPECT_EQ(without_spaces(text, {1, 5}).size(), 0);
  EXPECT_EQ(without_spaces(text, {0, 1}), (Span{0, 1}));
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  // Their last bytes, 0xa0 and 0x85, are white space in Latin-1 only.
  EXPECT_EQ(trim(" voilà "), "voilà");
  EXPECT_EQ(trim("Å"), "Å");
}

}  // namespace
}  // namespace fovea
