#include "fovea/kernels/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/threads.h"
#include "fovea/kernels/every_simd.h"

namespace fovea::kernels {
namespace {

constexpr Activation all[] = {Activation::none, Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                              Activation::silu, Activation::tanh, Activation::sigmoid};

double exact(Activation f, double x) {
  switch (f) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return 0;
}

// Central difference; the step of 1e-5 leaves an error of about 1e-10.
double exact_slope(Activation f, double x) { return (exact(f, x + 1e-5) - exact(f, x - 1e-5)) / 2e-5; }

using Activations = EverySimd;
INSTANTIATE_TEST_SUITE_P(, Activations, testing::ValuesIn(supported_simds()), simd_name);

std::vector<float> arguments(int64_t count) {
  std::vector<float> x(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    x[size_t(i)] = 12.0f * (static_cast<float>(i) + 0.37f) / static_cast<float>(count) - 6.0f;
  }
  return x;
}

TEST_P(Activations, EqualTheirFormulaInFloat64) {
  for (Activation f : all) {
    for (int64_t count : {0, 1, 7, 17, 33, 10001}) {
      const std::vector<float> x = arguments(count);
      std::vector<float> y(x.size() + 1, 9.0f);
      activate(f, count, x.data(), y.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const double wanted = exact(f, double(x[i]));
        ASSERT_NEAR(y[i], wanted, 2e-7 + 2e-7 * std::abs(double(x[i]))) << int(f) << " at " << x[i];
      }
      EXPECT_EQ(y.back(), 9.0f) << "wrote behind the end";
    }
  }
}

TEST_P(Activations, GradientsEqualFiniteDifferences) {
  for (Activation f : all) {
    for (int64_t count : {1, 7, 33, 10001}) {
      const std::vector<float> x = arguments(count);
      std::vector<float> dy(x.size()), dx(x.size() + 1, 9.0f);
      for (size_t i = 0; i < dy.size(); ++i) dy[i] = 0.5f + static_cast<float>(i % 5);
      activate_gradient(f, count, x.data(), dy.data(), dx.data());
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(dx[i], dy[i] * exact_slope(f, double(x[i])), 2e-6 * double(dy[i])) << int(f) << " at " << x[i];
      }
      EXPECT_EQ(dx.back(), 9.0f) << "wrote behind the end";
    }
  }
}

TEST_P(Activations, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {nan, infinity, 0.0f, 1e30f}, one(4, 1.0f);
  std::vector<float> y(4), dx(4);
  for (Activation f : all) {
    activate(f, 4, x.data(), y.data());
    activate_gradient(f, 4, x.data(), one.data(), dx.data());
    const bool bounded = f == Activation::tanh || f == Activation::sigmoid;
    EXPECT_TRUE(std::isnan(y[0])) << int(f);
    EXPECT_EQ(std::isnan(dx[0]), f != Activation::none) << int(f);
    EXPECT_EQ(y[1], bounded ? 1.0f : infinity) << int(f);
    EXPECT_EQ(y[2], f == Activation::sigmoid ? 0.5f : 0.0f) << int(f);
    EXPECT_EQ(y[3], bounded ? 1.0f : 1e30f) << int(f);
  }
}

TEST_P(Activations, SameBitsForAnyPositionAndThreadCount) {
  const std::vector<float> x = arguments(100003);
  for (Activation f : all) {
    std::vector<float> alone(x.size()), together(x.size());
    set_threads(1);
    for (size_t i = 0; i < 40; ++i) activate(f, 1, &x[i * 2500], &alone[i * 2500]);
    set_threads(2);
    activate(f, int64_t(x.size()), x.data(), together.data());
    for (size_t i = 0; i < 40; ++i) EXPECT_EQ(alone[i * 2500], together[i * 2500]) << int(f);
  }
}

}  // namespace
}  // namespace fovea::kernels
