#include "cli/progress_line.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fovea {
namespace {

struct Guess {
  double at, left;
};

// A job of batches: after each one's seconds its texts are done one after the other in a hundredth of a second. What is said
// after each text, where something is.
std::vector<Guess> guesses(const std::vector<double>& seconds, int texts, double& end) {
  Pace pace;
  std::vector<Guess> said;
  const double whole = static_cast<double>(seconds.size()) * texts;
  double now = 0;
  for (double length : seconds) {
    now += length;
    for (int i = 0; i < texts; ++i) {
      pace.add(now + 0.01 * i / texts, 1);
      if (const auto left = pace.left(now + 0.01 * i / texts, whole)) said.push_back({now + 0.01 * i / texts, *left});
    }
  }
  end = now;
  return said;
}

TEST(Pace, TheFirstBatchDoesNotDecide) {
  double end = 0;
  std::vector<double> seconds(16, 4);
  seconds[0] = 23;  // loading, and pages that are touched for the first time: 83 seconds in all
  const std::vector<Guess> said = guesses(seconds, 64, end);
  ASSERT_GT(said.size(), 800u);
  for (const Guess& g : said) EXPECT_NEAR(g.left, end - g.at, 0.5) << "at " << g.at;
}

TEST(Pace, SteadyWorkIsExtrapolated) {
  Pace pace;
  for (int i = 1; i <= 2000; ++i) {
    pace.add(5 + 0.05 * i, 10);
    const auto left = pace.left(5 + 0.05 * i, 20000);
    if (i > 40) {
      ASSERT_TRUE(left.has_value());
      EXPECT_NEAR(*left, 0.05 * (2000 - i), 1.5) << i;
    }
  }
  EXPECT_NEAR(*pace.rate(), 200, 1);
}

TEST(Pace, AChangedSpeedIsNoticed) {
  double end = 0;
  std::vector<double> seconds(30, 1);
  seconds.insert(seconds.end(), 60, 5);  // five times slower
  const std::vector<Guess> said = guesses(seconds, 8, end);
  for (const Guess& g : said) {
    if (g.at > 30 + 66) EXPECT_NEAR(g.left, end - g.at, 0.05 * (end - g.at) + 6) << "at " << g.at;
  }
}

TEST(Pace, NothingIsSaidBeforeItIsKnown) {
  double end = 0;
  EXPECT_TRUE(guesses({20}, 100, end).empty());
  EXPECT_TRUE(guesses({20, 5}, 100, end).empty());
  EXPECT_FALSE(Pace().left(3, 10).has_value());
  EXPECT_FALSE(Pace().rate().has_value());
}

TEST(ProgressText, SaysWhatIsKnown) {
  EXPECT_EQ(progress_text("lines", 12, std::nullopt, std::nullopt), "12 lines");
  EXPECT_EQ(progress_text("lines", 1234, 310.2, 124.5), "1234 lines, 310 lines/s, 2:05 left");
  EXPECT_EQ(progress_text("texts", 3, 0.25, 3661), "3 texts, 0.2 texts/s, 1:01:01 left");
}

}  // namespace
}  // namespace fovea
