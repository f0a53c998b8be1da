#include "fovea/base/random.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

// Known answers of Random123's distribution (kat_vectors, philox4x32 10).
TEST(Random, PhiloxGivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, ForksAreDifferentStreams) {
  Random a(1);
  EXPECT_NE(a.fork("x").word(0), a.fork("y").word(0));
  EXPECT_EQ(a.fork("x").word(5), Random(1).fork("x").word(5));
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  double sum = 0, squares = 0;
  const int n = 100000;
  Random random(3);
  for (int i = 0; i < n; ++i) {
    double x = random.normal(i);
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(squares / n, 1, 0.02);
}

TEST(Random, BelowStaysBelow) {
  Random random(4);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7, i));
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
}

}  // namespace
}  // namespace fovea
