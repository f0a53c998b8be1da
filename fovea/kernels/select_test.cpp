#include "fovea/kernels/select.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/random.h"
#include "fovea/kernels/every_simd.h"

namespace fovea::kernels {
namespace {

std::vector<int64_t> indices(const std::vector<Chosen>& chosen) {
  std::vector<int64_t> result;
  for (const Chosen& c : chosen) result.push_back(c.index);
  return result;
}

// Values from a few, so that there are many equal ones.
TEST(Largest, EqualsAStableSort) {
  for_each_simd([] {
    for (int64_t size : {0, 1, 7, 63, 64, 129, 1000}) {
      const Random random(static_cast<uint64_t>(size));
      std::vector<float> x;
      for (int64_t i = 0; i < size; ++i) x.push_back(std::floor(random.uniform(static_cast<uint64_t>(i)) * 40) - 20);
      std::vector<int64_t> order(x.size());
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)]; });
      for (int64_t count : {0, 1, 2, 5, 64, 2000}) {
        const std::vector<Chosen> found = largest(x, count);
        const auto expected = order.begin() + std::min(count, size);
        EXPECT_EQ(indices(found), std::vector<int64_t>(order.begin(), expected)) << size << " " << count;
        for (const Chosen& c : found) EXPECT_EQ(c.value, x[static_cast<size_t>(c.index)]);
      }
    }
  });
}

TEST(NextAbove, LeavesNothingLargeBehind) {
  for_each_simd([] {
    for (int64_t size : {0, 1, 63, 64, 500, 1000})
      for (int64_t at : {0, 5, 63, 64, 200, 499, 999}) {
        std::vector<float> x(static_cast<size_t>(size), 1.0f);
        if (at < size) x[static_cast<size_t>(at)] = 2;
        for (int64_t begin : {int64_t{0}, std::min<int64_t>(7, size)}) {
          if (at < begin) continue;
          const RunAbove run = next_above(x, begin, 1);
          EXPECT_LE(run.begin, std::max(begin, std::min(at, size))) << size << " " << at;
          EXPECT_TRUE(at >= size || at < run.end) << size << " " << at;
          EXPECT_LE(run.end, size);
        }
      }
  });
}

TEST(Largest, PassesOverWhatIsNoChoice) {
  for_each_simd([] {
    std::vector<float> x(200, -HUGE_VALF);
    EXPECT_TRUE(largest(x, 3).empty());
    x[150] = -4, x[20] = NAN, x[199] = HUGE_VALF;
    EXPECT_EQ(indices(largest(x, 3)), (std::vector<int64_t>{199, 150}));
  });
}

}  // namespace
}  // namespace fovea::kernels
