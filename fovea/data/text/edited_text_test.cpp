#include "fovea/data/text/edited_text.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(EditedText, KnowsWhereEachByteCameFrom) {
  const EditedText e("Write to a@b.org, Tom 😀.", {{{9, 16}, "Ann"}, {{21, 26}, ""}});
  EXPECT_EQ(e.text(), "Write to Ann, Tom.");
  EXPECT_EQ(e.original(Span{0, 5}), (Span{0, 5}));
  EXPECT_EQ(e.original(Span{9, 12}), (Span{9, 16}));
  EXPECT_EQ(e.original(Span{10, 11}), (Span{9, 16})) << "part of a replacement";
  EXPECT_EQ(e.original(Span{14, 17}), (Span{18, 21}));
  EXPECT_EQ(e.original(Span{17, 18}), (Span{26, 27}));
  EXPECT_EQ(e.original(Span{18, 18}), (Span{27, 27})) << "the end";
  EXPECT_EQ(e.edited(Span{9, 16}), (Span{9, 12}));
  EXPECT_EQ(e.edited(Span{18, 21}), (Span{14, 17}));
  EXPECT_EQ(e.edited(Span{22, 26}).size(), 0) << "left out";
}

TEST(EditedText, GivesSharedBytesToTheFirstOfSeveral) {
  const EditedText e("At a@b.org.", {{{3, 10}, "Ann Bo"}});
  EXPECT_EQ(e.original(std::vector<Span>{{0, 2}, {2, 6}, {6, 9}, {9, 10}}),
            (std::vector<Span>{{0, 2}, {2, 10}, {10, 10}, {10, 11}}));
}

TEST(EditedText, RefusesEditsThatOverlap) {
  EXPECT_THROW(EditedText("abc", {{{0, 2}, "x"}, {{1, 3}, "y"}}), Error);
  EXPECT_THROW(EditedText("abc", {{{0, 4}, "x"}}), Error);
  EXPECT_EQ(EditedText("", {}).text(), "");
  EXPECT_EQ(EditedText("", {}).original(Span{0, 0}), (Span{0, 0}));
  EXPECT_EQ(EditedText("abc", {{{1, 1}, "-"}}).text(), "a-bc") << "an insertion";
}

}  // namespace
}  // namespace fovea
