#include "fovea/explain/highlight.h"

#include <gtest/gtest.h>

#include "fovea/explain/colours.h"

namespace fovea {
namespace {

const Highlight good_film = {" a  guter Film! ", {{1, 2}, {4, 9}, {10, 15}}, {0.0, 0.25, 0.5}};

TEST(Highlight, ColoursLieBehindTheTextAsItIs) {
  EXPECT_EQ(to_terminal(good_film, {.colour = true}),
            " " + painted(0, "a") + "  " + painted(0.5, "guter") + " " + painted(1, "Film!") + " \n");
}

TEST(Highlight, WithoutColoursEachWordHasABar) {
  EXPECT_EQ(to_terminal(good_film, {.colour = false}),
            "a      0.0000  \n"
            "guter  0.2500  ████████████\n"
            "Film!  0.5000  ████████████████████████\n");
}

TEST(Highlight, TextsWithoutWordsOrWeights) {
  EXPECT_EQ(to_terminal(Highlight{"  ", {}, {}}, {.colour = true}), "  \n");
  EXPECT_EQ(to_terminal(Highlight{"a", {{0, 1}}, {0.0}}, {.colour = false}), "a  0.0000  \n");
}

TEST(Highlight, IsOneRowOfAPicture) {
  const HeatMap map = to_heat_map(good_film, "good 0.9");
  EXPECT_EQ(map.columns, (std::vector<std::string>{"a", "guter", "Film!"}));
  EXPECT_EQ(map.at(0, 2), 0.5);
}

}  // namespace
}  // namespace fovea
