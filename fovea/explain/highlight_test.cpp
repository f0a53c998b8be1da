#include "fovea/explain/highlight.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/explain/colours.h"
#include "fovea/explain/measure.h"

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

TEST(Highlight, BarsAndWordsFitTheTerminal) {
  const Highlight h = {"Donaudampfschifffahrtsgesellschaft 字典", {{0, 34}, {35, 41}}, {0.25, 1}};
  for (int width = 20; width <= 200; ++width) {
    const std::string text = to_terminal(h, {.width = width, .colour = false});
    EXPECT_LE(cells(text.substr(0, text.find('\n'))), width);
    EXPECT_LE(cells(text.substr(text.find('\n') + 1)), width + 1) << text;
  }
}

TEST(Highlight, KindsHaveColoursOfTheirOwn) {
  const std::string text = "Angela Merkel visited Paris.";
  const std::vector<KindSpan> spans = {{{0, 13}, "PER"}, {{22, 27}, "LOC"}};
  EXPECT_EQ(to_terminal(text, spans, {.colour = false}), "[Angela Merkel](PER) visited [Paris](LOC).");
  EXPECT_EQ(to_terminal(text, spans, {.colour = true}),
            painted_kind("PER", "Angela Merkel") + " " + coloured_kind("PER") + " visited " +
                painted_kind("LOC", "Paris") + " " + coloured_kind("LOC") + ".");
  std::set<std::string> seen;
  for (const char* kind : {"PER", "LOC", "ORG", "MISC"}) seen.insert(painted_kind(kind, "x"));
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(to_terminal("", {}, {.colour = true}), "");
}

TEST(Highlight, IsOneRowOfAPicture) {
  const HeatMap map = to_heat_map(good_film, "good 0.9");
  EXPECT_EQ(map.columns, (std::vector<std::string>{"a", "guter", "Film!"}));
  EXPECT_EQ(map.at(0, 2), 0.5);
}

}  // namespace
}  // namespace fovea
