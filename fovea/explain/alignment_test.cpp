#include "fovea/explain/alignment.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(WordAlignment, WordsAreWhatWhiteSpaceSeparates) {
  EXPECT_EQ(words_of("  Die\tKatze\u00a0schläft. "), (std::vector<Span>{{2, 5}, {6, 11}, {13, 22}}));
  EXPECT_TRUE(words_of(" ").empty());
  EXPECT_EQ(words_of("a \xc3"), (std::vector<Span>{{0, 1}, {2, 3}}));
}

TEST(WordAlignment, TokensBelongToTheWordOfTheirFirstByte) {
  // "a bc" with: a token without bytes at the beginning, one with the space before it, one across the words, the end.
  const std::vector<Span> tokens = {{0, 0}, {0, 1}, {1, 3}, {3, 4}, {0, 4}, {1, 2}, {2, 2}, {4, 4}};
  EXPECT_EQ(words_of_tokens({"a bc", tokens}), (std::vector<int64_t>{0, 0, 1, 1, 0, -1, 1, -1}));
}

// Target "ab c" as a|b|c|end, source "x yz" as x|y|z|end.
TEST(WordAlignment, SumsOverWhatIsLookedAtAndMeansOverWhatLooks) {
  const std::vector<Span> target = {{0, 1}, {1, 2}, {3, 4}, {4, 4}}, source = {{0, 1}, {2, 3}, {3, 4}, {4, 4}};
  const Tensor weights = tensor({4, 4}, std::vector<float>{0.5f, 0.125f, 0.25f, 0.125f,  //
                                                           0.25f, 0.25f, 0.25f, 0.25f,   //
                                                           0.75f, 0, 0, 0.25f,           //
                                                           0, 0, 0, 1});
  const WordWeights w = by_words({"ab c", target}, {"x yz", source}, weights);
  EXPECT_EQ(w.rows, (std::vector<std::string>{"ab", "c"}));
  EXPECT_EQ(w.columns, (std::vector<std::string>{"x", "yz"}));
  EXPECT_EQ(w.weights, (std::vector<double>{0.375, 0.4375, 0.75, 0}));
  EXPECT_EQ(to_pharaoh(hard_alignment(w)), "1-0 0-1");
  EXPECT_EQ(soft_alignment(w), "0-0:0.38 1-0:0.44 0-1:0.75");
  const HeatMap map = to_heat_map(w, "title");
  EXPECT_EQ(map.at(0, 1), 0.4375);
  EXPECT_THROW(by_words({"ab c", source}, {"x", {}}, weights), Error);
}

TEST(WordAlignment, PharaohsOrderIsThatOfTheTarget) {
  EXPECT_EQ(to_pharaoh({{10, 0}, {2, 1}, {2, 0}}), "2-0 10-0 2-1");
  EXPECT_EQ(to_pharaoh({}), "");
}

TEST(WordAlignment, EmptySidesAndRowsWithoutWeightGiveNoLinks) {
  const std::vector<Span> end = {{0, 0}}, word = {{0, 1}, {1, 1}};
  const WordWeights none = by_words({"", end}, {"a", word}, tensor({1, 2}, std::vector<float>{0.5f, 0.5f}));
  EXPECT_TRUE(none.weights.empty());
  const WordWeights all_on_the_end = by_words({"b", word}, {"a", word}, tensor({2, 2}, std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(to_pharaoh(hard_alignment(all_on_the_end)), "");
  EXPECT_EQ(to_pharaoh(hard_alignment(by_words({"b", word}, {"", end}, tensor({2, 1}, std::vector<float>{1, 1})))), "");
}

TEST(WordAlignment, NumbersOfTokensAreSummedByWord) {
  const std::vector<Span> tokens = {{0, 1}, {1, 2}, {3, 4}, {4, 4}};
  EXPECT_EQ(by_words({"ab c", tokens}, {0.25, 0.5, 0.125, 0.125}), (std::vector<double>{0.75, 0.125}));
}

}  // namespace
}  // namespace fovea
