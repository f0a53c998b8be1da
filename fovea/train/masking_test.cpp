// Which tokens are hidden, and how, as BERT's paper says it.
#include "fovea/train/masking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace fovea {
namespace {

std::vector<int64_t> row_of(size_t tokens) {
  std::vector<int64_t> ids(tokens);
  for (size_t i = 0; i < tokens; ++i) ids[i] = 10 + static_cast<int64_t>(i % 500);
  ids.front() = 2;
  ids.back() = 3;
  return ids;
}

const MaskingRules rules = {.mask = 4, .vocabulary = 1000, .kept = {0, 2, 3}};

// Shares of n draws lie within five deviations √(p (1 − p) / n).
TEST(Masking, HidesFifteenPercentEightyOfThemByTheMask) {
  const std::vector<int64_t> ids = row_of(202);
  double chosen = 0, masked = 0, same = 0, other = 0;
  std::vector<double> by_place(ids.size());
  const int rows = 4000;
  for (int r = 0; r < rows; ++r) {
    const MaskedRow row = mask_tokens(ids, rules, Random(7).fork(static_cast<uint64_t>(r)));
    ASSERT_EQ(row.places.size(), 30u);
    ASSERT_EQ(std::set<int64_t>(row.places.begin(), row.places.end()).size(), 30u);
    for (size_t i = 0, hidden = 0; i < ids.size(); ++i) {
      const bool here = hidden < row.places.size() && row.places[hidden] == static_cast<int64_t>(i);
      if (!here) {
        EXPECT_EQ(row.ids[i], ids[i]);
        continue;
      }
      EXPECT_EQ(row.wanted[hidden++], ids[i]);
      ++chosen, ++by_place[i];
      (row.ids[i] == 4 ? masked : row.ids[i] == ids[i] ? same : other) += 1;
    }
  }
  EXPECT_EQ(by_place.front() + by_place.back(), 0) << "[CLS] and [SEP] are never to be guessed";
  const auto near = [&](double share, double expected, double of) {
    EXPECT_NEAR(share / of, expected, 5 * std::sqrt(expected * (1 - expected) / of));
  };
  near(masked, 0.8 + 0.1 / 1000, chosen);
  near(other, 0.1 * 998 / 1000, chosen);
  near(same, 0.1 + 0.1 / 1000, chosen);
  for (size_t i = 1; i + 1 < ids.size(); ++i) near(by_place[i], 0.15, rows);
}

TEST(Masking, TheSameRandomnessHidesTheSameAndTheCountIsKnownBefore) {
  for (size_t tokens : {2, 3, 5, 9, 40}) {
    const std::vector<int64_t> ids = row_of(tokens);
    const MaskedRow a = mask_tokens(ids, rules, Random(1)), b = mask_tokens(ids, rules, Random(1));
    EXPECT_EQ(a.ids, b.ids);
    EXPECT_EQ(a.places, b.places);
    EXPECT_EQ(static_cast<int64_t>(a.places.size()), masked_count(ids, rules));
    EXPECT_EQ(masked_count(ids, rules), tokens == 2 ? 0 : std::max<int64_t>(1, std::lround(0.15 * (tokens - 2.0))));
  }
}

}  // namespace
}  // namespace fovea
