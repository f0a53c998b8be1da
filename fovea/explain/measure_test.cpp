#include "fovea/explain/measure.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(Measure, CellsAreThoseOfATerminal) {
  const std::pair<const char*, int> cases[] = {{"", 0},     {"bank", 4}, {"é", 1},    {"e\u0301", 1}, {"字典", 4},
                                               {"🙂", 2}, {"ﾊ", 1},    {"한국", 4}, {"a\tb", 3},    {"\x1b[1m", 4}};
  for (const auto& [text, width] : cases) EXPECT_EQ(cells(text), width) << text;
}

// DejaVu Sans at 100 pixels: "Il" 29.5 + 27.8, "WM" 98.9 + 86.3 (bold 110.3 + 99.5).
TEST(Measure, NarrowAndWideLettersDiffer) {
  EXPECT_NEAR(Measure::font(100)("Il"), 57.3, 2);
  EXPECT_NEAR(Measure::font(100)("WM"), 185.2, 2);
  EXPECT_NEAR(Measure::font(100, true)("WM"), 209.8, 2);
  EXPECT_EQ(Measure::font(13)("é"), Measure::font(13)("e"));
  EXPECT_EQ(Measure::font(13)("字"), 13);
}

TEST(Measure, WhatDoesNotFitIsCutWithAnEllipsis) {
  const Measure cell = Measure::cells();
  EXPECT_EQ(cell.shortened("approved", 8), "approved");
  EXPECT_EQ(cell.shortened("approved", 5), "appr…");
  EXPECT_EQ(cell.shortened("字典字典", 6), "字典…");
  EXPECT_EQ(cell.shortened("字典字典", 4), "字…");
  EXPECT_EQ(cell.shortened("re\u0301sume\u0301", 3), "re\u0301…");
  EXPECT_EQ(cell.shortened("ab", 1), "…");
  EXPECT_EQ(cell.shortened("ab", 0), "");
  for (double most = 20; most < 300; most += 7)
    EXPECT_LE(Measure::font(13)(Measure::font(13).shortened("Donaudampfschifffahrtsgesellschaft 字典", most)), most);
}

TEST(Measure, LinesBreakAtSpaces) {
  using Lines = std::vector<std::string>;
  const Measure cell = Measure::cells();
  EXPECT_EQ(cell.wrapped("the bank approved", 8, 5), (Lines{"the bank", "approved"}));
  EXPECT_EQ(cell.wrapped("the bank approved", 8, 1), (Lines{"the ban…"}));
  EXPECT_EQ(cell.wrapped("approved", 3, 5), (Lines{"app", "rov", "ed"}));
  EXPECT_EQ(cell.wrapped("", 3, 5), (Lines{""}));
  EXPECT_EQ(cell.wrapped("字典", 1, 5), (Lines{"…"}));
}

TEST(Measure, ForeignBytesAreMadeVisible) {
  EXPECT_EQ(visible("a\tb\nc"), "a b c");
  EXPECT_EQ(visible("\x1b[31m"), "\uFFFD[31m");
  EXPECT_EQ(visible("a\xff\xc3"), "a\uFFFD\uFFFD");
  EXPECT_EQ(with_marks("e\u0301x"), (std::vector<std::string>{"e\u0301", "x"}));
}

}  // namespace
}  // namespace fovea
