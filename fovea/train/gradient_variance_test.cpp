#include "fovea/train/gradient_variance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

struct Two {
  Tensor a = zeros({33}), b = zeros({2, 7});
  void weights(Weights& w) { w("a", a, {Init::zeros}), w("b", b, {Init::zeros}); }
};

// Gradients that differ by a ten-thousandth of what they share: Σ|g|² − n|ḡ|² in floats would be nothing but rounding.
TEST(GradientVariance, EqualsTwoPassesInFloat64) {
  Two model;
  GradientVariance found(list_weights(model));
  const Tensor shared = normal({33}, Random(1), 0, 100);
  std::vector<std::vector<double>> gradients;
  for (uint64_t i = 0; i < 9; ++i) {
    const Tensor of_a = shared + normal({33}, Random(2).fork(i), 0, 0.01), of_b = normal({2, 7}, Random(3).fork(i));
    Tensor loss = sum(model.a * of_a);
    const bool reaches_b = i % 3 == 0;
    if (reaches_b) loss = loss + sum(model.b * of_b);
    loss.backward();
    const double divisor = 1 + 0.25 * static_cast<double>(i % 2);
    std::vector<double> all = of_a.values<double>(), rest = of_b.values<double>();
    for (double value : rest) all.push_back(reaches_b ? value : 0);
    for (double& value : all) value /= divisor;
    gradients.push_back(all);
    found.add(divisor);
    EXPECT_FALSE(model.a.gradient());
    EXPECT_EQ(std::isnan(found.variance()), i == 0);
  }
  const double n = static_cast<double>(gradients.size());
  double mean_squares = 0, variance = 0;
  for (size_t k = 0; k < gradients[0].size(); ++k) {
    double mean = 0;
    for (const auto& g : gradients) mean += g[k] / n;
    mean_squares += mean * mean;
    for (const auto& g : gradients) variance += (g[k] - mean) * (g[k] - mean) / (n - 1);
  }
  EXPECT_EQ(found.count(), 9);
  EXPECT_NEAR(found.mean(), std::sqrt(mean_squares), 1e-12 * std::sqrt(mean_squares));
  EXPECT_NEAR(found.variance(), variance, 1e-10 * variance);
}

TEST(GradientVariance, OfNearlyEqualGradientsIsNotLost) {
  Two model;
  GradientVariance found(list_weights(model));
  double mean = 0, variance = 0;
  std::vector<double> seen;
  for (uint64_t i = 0; i < 50; ++i) {
    const float g = 1000 + 0.001f * static_cast<float>(i % 5);
    sum(model.a * static_cast<double>(g)).backward();
    found.add(1);
    seen.push_back(g);
    mean += g / 50.0;
  }
  for (double g : seen) variance += 33 * (g - mean) * (g - mean) / 49;
  EXPECT_NEAR(found.variance(), variance, 1e-6 * variance);
  EXPECT_NEAR(found.mean(), std::sqrt(33.0) * mean, 1e-9 * found.mean());
  EXPECT_THROW(found.add(0), Error);
}

}  // namespace
}  // namespace fovea
