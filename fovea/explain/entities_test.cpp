#include "fovea/explain/entities.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

const TaggedText merkel = {
    "Angela  Merkel visited Paris.",
    {{0, 6}, {8, 14}, {15, 22}, {23, 28}, {28, 29}},
    {.labels = {"B-PER", "I-PER", "O", "B-LOC", "O"}, .probabilities = {0.75, 0.5, 1, 0.875, 1}, .attention = {}}};

TEST(EntitiesInText, KeepTheTextAsItIs) {
  EXPECT_EQ(marked(merkel), "[Angela  Merkel](PER) visited [Paris](LOC).");
  EXPECT_EQ(marked({" ", {}, {}}), " ");
}

TEST(EntitiesInText, AreAsProbableAsTheirLeastProbableWord) {
  const std::vector<TextEntity> found = entities_in(merkel);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].type, "PER");
  EXPECT_EQ(found[0].span, (Span{0, 14}));
  EXPECT_EQ(found[0].probability, 0.5);
  EXPECT_EQ(found[1].probability, 0.875);
}

TEST(EntitiesInText, LabelsWithoutBeginningsAreOfSingleWords) {
  EXPECT_EQ(
      marked({"dogs bark", {{0, 4}, {5, 9}}, {.labels = {"NOUN", "VERB"}, .probabilities = {1, 1}, .attention = {}}}),
      "[dogs](NOUN) [bark](VERB)");
}

}  // namespace
}  // namespace fovea
