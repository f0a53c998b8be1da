#include "fovea/tensor/softmax.h"

#include <cstring>
#include <limits>

#include "fovea/kernels/every_simd.h"
#include "fovea/kernels/softmax.h"
#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(Softmax, GradientsAlongEveryAxis) {
  for (int axis : {0, 1, -1}) {
    check_gradient([&](const Inputs& x) { return softmax(x[0], axis); }, {random_input({3, 2, 7})});
    check_gradient([&](const Inputs& x) { return log_softmax(x[0], axis); }, {random_input({3, 2, 7})});
  }
  check_gradient([](const Inputs& x) { return softmax(x[0]); }, {random_input({0, 3})});
  check_gradient([](const Inputs& x) { return softmax(x[0]); }, {random_input({3, 0})});
  check_gradient([](const Inputs& x) { return log_softmax(x[0]); }, {random_input({3, 1})});
}

TEST(Softmax, EqualsItsFormulaOnEveryInstructionSet) {
  for_each_simd([&] {
    for (int64_t width : {1, 3, 7, 8, 17, 33, 64, 100, 1000}) {
      const Tensor x = normal({3, width}, Random(1), 5, 30);
      const std::vector<double> v = x.values<double>();
      const std::vector<float> y = softmax(x).values<float>(), l = log_softmax(x).values<float>();
      std::vector<float> sums(3);
      kernels::log_sum_exp({.rows = 3, .width = width}, x.data<float>(), sums.data());
      for (size_t row = 0; row < 3; ++row) {
        const size_t from = row * static_cast<size_t>(width), to = from + static_cast<size_t>(width);
        double sum = 0;
        for (size_t i = from; i < to; ++i) sum += std::exp(v[i]);
        EXPECT_NEAR(sums[row], std::log(sum), 2e-7 * (1 + std::abs(std::log(sum))));
        for (size_t i = from; i < to; ++i) {
          ASSERT_NEAR(y[i], std::exp(v[i]) / sum, 1e-5 * std::exp(v[i]) / sum + 1e-37) << width;
          ASSERT_NEAR(l[i], v[i] - std::log(sum), 1e-6 * (10 + std::abs(v[i]))) << width;
        }
      }
    }
  });
}

TEST(Softmax, NothingButMinusInfinityGivesZeros) {
  for_each_simd([&] {
    for (int64_t width : {1, 5, 40}) {
      Tensor x = full({1, width}, -infinity).require_gradient();
      Tensor y = softmax(x), l = log_softmax(x);
      EXPECT_EQ(y.values<float>(), std::vector<float>(static_cast<size_t>(width), 0.0f));
      EXPECT_EQ(l.values<float>(), std::vector<float>(static_cast<size_t>(width), -infinity));
      y.backward(ones(y.shape()));
      EXPECT_EQ(x.gradient().values<float>(), std::vector<float>(static_cast<size_t>(width), 0.0f));
    }
  });
  EXPECT_EQ(softmax(full({2}, -infinity, DType::f64)).values<double>(), (std::vector<double>{0, 0}));
}

TEST(Softmax, ANanFillsItsRowAndNoOther) {
  for_each_simd([&] {
    for (int64_t width : {1, 5, 16, 40}) {
      for (int64_t place = 0; place < width; ++place) {
        for (const double bad : {static_cast<double>(NAN), static_cast<double>(infinity)}) {
          Tensor x = zeros({2, width});
          x.select(0, 0).slice(0, place, place + 1).fill(bad);
          const std::vector<float> y = softmax(x).values<float>(), l = log_softmax(x).values<float>();
          for (size_t i = 0; i < static_cast<size_t>(width); ++i) {
            EXPECT_TRUE(std::isnan(y[i]) && std::isnan(l[i]));
            EXPECT_FLOAT_EQ(y[static_cast<size_t>(width) + i], 1.0f / static_cast<float>(width));
          }
        }
      }
    }
  });
}

TEST(Softmax, PaddingWithMinusInfinityLeavesTheBits) {
  for_each_simd([&] {
    const Tensor x = normal({300}, Random(1), 0, 3);
    for (int64_t width : {1, 7, 17, 33, 70, 129, 300}) {
      const std::vector<float> alone = softmax(x.slice(0, 0, width)).values<float>();
      for (int64_t padded : {width + 1, width + 13, width + 64, width + 200}) {
        Tensor longer = full({padded}, -infinity);
        longer.slice(0, 0, width).copy_from(x.slice(0, 0, width));
        const std::vector<float> y = softmax(longer).values<float>();
        EXPECT_EQ(std::memcmp(y.data(), alone.data(), alone.size() * sizeof(float)), 0) << width << " in " << padded;
      }
    }
  });
}

TEST(Softmax, LogOddsAreExactWhereAProbabilityIsNextToOne) {
  const Tensor x = tensor({2, 3}, std::vector<double>{40, 1, 2, 0, 1, 3});
  const std::vector<double> odds = log_odds(x.to(DType::f32), 0).values<double>();
  EXPECT_NEAR(odds[0], 40 - std::log(std::exp(1) + std::exp(2)), 1e-5);
  EXPECT_NEAR(odds[1], -std::log(std::exp(1) + std::exp(3)), 1e-6);
  check_gradient([](const Inputs& in) { return log_odds(in[0], 1); }, {random_input({3, 4})});
  EXPECT_NE(error_of([] { log_odds(zeros({2, 1}), 0); }).find("at least two"), std::string::npos);
}

TEST(Softmax, ErrorsNameTheType) {
  EXPECT_EQ(error_of([] { softmax(arange(3)); }), "softmax: found numbers of type I64, expected F32 or F64");
  EXPECT_EQ(error_of([] { softmax(zeros({2}), 1); }), "axis 1: the shape [2] has 1 axes");
}

TEST(Softmax, SameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    Tensor x = normal({130, 201}, Random(1)).require_gradient();
    Tensor y = softmax(x), l = log_softmax(x, 0);
    y.backward(normal(y.shape(), Random(2)));
    l.backward(normal(y.shape(), Random(3)));
    return std::vector<Tensor>{y, l, x.gradient()};
  });
}

}  // namespace
}  // namespace fovea
