#include "fovea/tensor/loss.h"

#include <limits>

#include "fovea/kernels/every_simd.h"
#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

Tensor targets(const Shape& shape, const std::vector<int64_t>& values) { return tensor(shape, values); }

TEST(CrossEntropy, Gradients) {
  const Tensor t = targets({2, 3}, {0, 6, 3, -100, 2, 2});
  for (double smoothing : {0.0, 0.1, 1.0}) {
    for (Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
      check_gradient(
          [&](const Inputs& x) { return cross_entropy(x[0], t, {.smoothing = smoothing, .reduction = reduction}); },
          {random_input({2, 3, 7})});
    }
  }
  check_gradient([&](const Inputs& x) { return cross_entropy(x[0], targets({}, {1})); }, {random_input({3})});
}

TEST(CrossEntropy, EqualsItsFormulaOnEveryInstructionSet) {
  for_each_simd([&] {
    for (int64_t classes : {1, 7, 17, 33, 100}) {
      const Tensor x = normal({5, classes}, Random(1), 0, 20);
      const std::vector<double> v = x.values<double>();
      std::vector<int64_t> t;
      for (int64_t row = 0; row < 5; ++row) t.push_back(row * 3 % classes);
      const std::vector<float> y =
          cross_entropy(x, targets({5}, t), {.smoothing = 0.25f, .reduction = Reduction::none}).values<float>();
      for (size_t row = 0; row < 5; ++row) {
        const size_t width = static_cast<size_t>(classes);
        double sum = 0, expected = 0;
        for (size_t i = 0; i < width; ++i) sum += std::exp(v[row * width + i]);
        for (size_t i = 0; i < width; ++i) {
          const double share = 0.25 / static_cast<double>(classes) + (static_cast<int64_t>(i) == t[row] ? 0.75 : 0);
          expected -= share * (v[row * width + i] - std::log(sum));
        }
        EXPECT_NEAR(y[row], expected, 1e-5 * (1 + std::abs(expected))) << classes;
      }
    }
  });
}

TEST(CrossEntropy, IgnoredRowsCountForNothing) {
  Tensor x = normal({3, 4}, Random(1));
  x.slice(0, 1, 2).fill(std::numeric_limits<double>::quiet_NaN());
  x.require_gradient();
  Tensor loss = cross_entropy(x, targets({3}, {1, 9, 2}), {.smoothing = 0.1, .ignored = 9});
  EXPECT_TRUE(std::isfinite(loss.item()));
  loss.backward();
  const std::vector<float> dx = x.gradient().values<float>();
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ(dx[i], 0);
}

TEST(CrossEntropy, NothingButIgnoredTargetsGiveZero) {
  Tensor x = normal({2, 3}, Random(1)).require_gradient();
  Tensor loss = cross_entropy(x, targets({2}, {-100, -100}));
  EXPECT_EQ(loss.item(), 0);
  loss.backward();
  EXPECT_EQ(x.gradient().values<float>(), std::vector<float>(6, 0.0f));
  EXPECT_EQ(cross_entropy(zeros({0, 3}), targets({0}, {})).item(), 0);
}

TEST(CrossEntropy, SmoothsInTheNumbersOwnPrecision) {
  const std::vector<double> x = {0.3, -1.7, 2.1, 0.9};
  Tensor logits = tensor({1, 4}, x).require_gradient();
  const double smoothing = 0.1;
  Tensor loss = cross_entropy(logits, targets({1}, {2}), {.smoothing = smoothing});
  double sum = 0, mean = 0;
  for (double v : x) sum += std::exp(v), mean += v / 4;
  EXPECT_NEAR(loss.item(), std::log(sum) - (1 - smoothing) * x[2] - smoothing * mean, 1e-12);
  loss.backward();
  const std::vector<double> gradient = logits.gradient().values<double>();
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(gradient[i], std::exp(x[i]) / sum - smoothing / 4 - (i == 2 ? 1 - smoothing : 0), 1e-12);
}

TEST(CrossEntropy, HugeLogitsAndVisibleNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor x = tensor({3, 2}, std::vector<float>{1e4f, -1e4f, NAN, 0, 0, -infinity});
  const std::vector<float> y =
      cross_entropy(x, targets({3}, {1, 1, 0}), {.reduction = Reduction::none}).values<float>();
  EXPECT_EQ(y[0], 2e4f);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 0);
}

TEST(CrossEntropy, ErrorsNameTheTarget) {
  EXPECT_EQ(error_of([] {
              cross_entropy(zeros({2, 3}), targets({2}, {0, 3}));
            }),
            "cross_entropy: found target 3 at place 1, expected 0 to 2 or -100 to ignore it");
  EXPECT_EQ(error_of([] {
              cross_entropy(zeros({2, 3}), targets({3}, {0, 0, 0}));
            }),
            "cross_entropy: found targets [3] for logits [2, 3], expected [2]");
  EXPECT_EQ(error_of([] {
              cross_entropy(zeros({2, 3}), zeros({2}));
            }),
            "cross_entropy: found targets of type F32, expected I64");
  EXPECT_EQ(error_of([] {
              cross_entropy(zeros({2, 0}), targets({2}, {0, 0}));
            }),
            "cross_entropy: found logits [2, 0], expected [..., classes]");
  EXPECT_EQ(error_of([] {
              cross_entropy(zeros({1, 3}), targets({1}, {0}), {.smoothing = 2});
            }),
            "cross_entropy: found smoothing 2, expected 0 to 1");
}

TEST(CrossEntropy, SameBitsForAnyThreads) {
  std::vector<int64_t> t;
  for (int64_t i = 0; i < 200; ++i) t.push_back(i % 5 == 0 ? -100 : i * 31 % 501);
  expect_same_bits_for_any_threads([&] {
    Tensor x = normal({200, 501}, Random(1)).require_gradient();
    Tensor y = cross_entropy(x, targets({200}, t), {.smoothing = 0.1});
    y.backward();
    return std::vector<Tensor>{y, x.gradient()};
  });
}

}  // namespace
}  // namespace fovea
