#include "fovea/kernels/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/every_simd.h"

namespace fovea::kernels {
namespace {

using Numbers = std::vector<float>;

Numbers random_numbers(int64_t count, uint64_t seed) {
  Numbers numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = Random(seed).normal(i);
  return numbers;
}

void expect_near(const Numbers& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-6 * std::max(1.0, std::abs(expected[i]))) << i;
  }
}

// The numbers of one weight while it is optimised, once in float and once in double.
struct Pair {
  explicit Pair(Numbers n) : f(std::move(n)), d(f.begin(), f.end()) {}
  Numbers f;
  std::vector<double> d;
};

class OptimiserKernel : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { simd_ = simd(), threads_ = threads(); }
  void TearDown() override { use_simd(simd_), set_threads(threads_); }

 private:
  Simd simd_ = Simd::baseline;
  int threads_ = 1;
};

TEST_P(OptimiserKernel, AdamEqualsItsFormulaInFloat64) {
  const int64_t count = GetParam();
  for_each_simd([&] {
    Pair w(random_numbers(count, 1)), m(random_numbers(count, 2)), v(random_numbers(count, 3));
    for (size_t i = 0; i < v.f.size(); ++i) v.f[i] = 0.25f + std::abs(v.f[i]), v.d[i] = v.f[i];
    const Numbers gradient = random_numbers(count, 4);
    const AdamStep a = {.rate = 0.1f, .correction = 1.7f, .keep = 0.99f, .penalty = 0.05f, .scale = 0.25f};
    adam(a, {count, gradient.data(), w.f.data(), m.f.data(), v.f.data()});
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double g = 0.25 * gradient[i] + 0.05 * w.d[i];
      m.d[i] = 0.9 * m.d[i] + 0.1 * g;
      v.d[i] = 0.999 * v.d[i] + 0.001 * g * g;
      w.d[i] = 0.99 * w.d[i] - 0.1 * m.d[i] / (1.7 * std::sqrt(v.d[i]) + 1e-8);
    }
    expect_near(m.f, m.d);
    expect_near(v.f, v.d);
    expect_near(w.f, w.d);
  });
}

TEST_P(OptimiserKernel, MomentumAndBlendEqualTheirFormulasInFloat64) {
  const int64_t count = GetParam();
  for_each_simd([&] {
    Pair w(random_numbers(count, 1)), u(random_numbers(count, 2)), average(random_numbers(count, 3));
    const Numbers gradient = random_numbers(count, 4);
    momentum({.rate = 0.1f, .momentum = 0.9f, .penalty = 0.05f, .scale = 0.25f},
             {count, gradient.data(), w.f.data(), u.f.data()});
    blend(0.125f, count, gradient.data(), average.f.data());
    for (size_t i = 0; i < gradient.size(); ++i) {
      u.d[i] = 0.9 * u.d[i] + 0.25 * gradient[i] + 0.05 * w.d[i];
      w.d[i] -= 0.1 * u.d[i];
      average.d[i] = 0.875 * average.d[i] + 0.125 * gradient[i];
    }
    expect_near(u.f, u.d);
    expect_near(w.f, w.d);
    expect_near(average.f, average.d);
  });
}

TEST_P(OptimiserKernel, SumOfSquaresEqualsFloat64AndLetsNaNThrough) {
  const int64_t count = GetParam();
  Numbers x = random_numbers(count, 5);
  double expected = 0;
  for (float v : x) expected += static_cast<double>(v) * v;
  for_each_simd([&] { EXPECT_NEAR(sum_of_squares(count, x.data()), expected, 1e-6 * expected); });
  if (count == 0) return;
  x.back() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(sum_of_squares(count, x.data())));
}

TEST_P(OptimiserKernel, SameBitsForAnyNumberOfThreads) {
  const int64_t count = GetParam();
  for_each_simd([&] {
    auto run = [&](int threads) {
      set_threads(threads);
      Numbers w = random_numbers(count, 1), m = random_numbers(count, 2), v(static_cast<size_t>(count), 0.5f);
      const Numbers gradient = random_numbers(count, 4);
      adam({.rate = 0.1f, .scale = 0.3f}, {count, gradient.data(), w.data(), m.data(), v.data()});
      momentum({.rate = 0.1f, .momentum = 0.9f}, {count, gradient.data(), w.data(), m.data()});
      blend(0.3f, count, gradient.data(), v.data());
      w.insert(w.end(), m.begin(), m.end());
      w.insert(w.end(), v.begin(), v.end());
      return std::pair(w, sum_of_squares(count, gradient.data()));
    };
    const auto one = run(1);
    for (int threads : {2, 3, 7}) EXPECT_EQ(run(threads), one) << threads;
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, OptimiserKernel, testing::Values(0, 1, 7, 17, 33, 4097, 100'003));

}  // namespace
}  // namespace fovea::kernels
