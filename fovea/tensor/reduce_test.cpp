#include "fovea/tensor/reduce.h"

#include <limits>

#include "fovea/kernels/every_simd.h"
#include "fovea/kernels/sum.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

TEST(Reduce, GradientsOverEveryChoiceOfAxes) {
  const Inputs inputs = {random_input({2, 3, 4})};
  for (Axes keep : {Axes::drop, Axes::keep}) {
    for (const std::vector<int>& axes : {std::vector<int>{}, {0}, {1}, {-1}, {0, 1}, {0, 2}, {2, 1}, {0, 1, 2}}) {
      check_gradient([&](const Inputs& x) { return sum(x[0], axes, keep); }, inputs);
      check_gradient([&](const Inputs& x) { return mean(x[0], axes, keep); }, inputs);
      check_gradient([&](const Inputs& x) { return variance(x[0], axes, keep); }, inputs);
    }
    for (int axis : {0, 1, 2, -1}) {
      check_gradient([&](const Inputs& x) { return max(x[0], axis, keep); }, inputs);
      check_gradient([&](const Inputs& x) { return min(x[0], axis, keep); }, inputs);
      check_gradient([&](const Inputs& x) { return log_sum_exp(x[0], axis, keep); }, inputs);
    }
  }
  check_gradient([](const Inputs& x) { return sum(x[0]); }, inputs);
  check_gradient([](const Inputs& x) { return mean(x[0]); }, inputs);
  check_gradient([](const Inputs& x) { return sum(x[0]); }, {random_input({})});
}

TEST(Reduce, ShapesOfTheResult) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(sum(x).shape(), Shape{});
  EXPECT_EQ(sum(x, {0, 2}).shape(), Shape{3});
  EXPECT_EQ(sum(x, {0, 2}, Axes::keep).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(argmax(x, -1).shape(), (Shape{2, 3}));
  EXPECT_EQ(argmax(x, 1, Axes::keep).shape(), (Shape{2, 1, 4}));
}

TEST(Reduce, EmptyAxesSumToZero) {
  EXPECT_EQ(sum(zeros({0, 3}), {0}).values<float>(), std::vector<float>(3, 0.0f));
  EXPECT_EQ(sum(zeros({3, 0}), {1}).values<float>(), std::vector<float>(3, 0.0f));
  EXPECT_EQ(sum(zeros({0, 3}), {1}).shape(), Shape{0});
  EXPECT_EQ(sum(zeros({3, 0})).item(), 0);
  EXPECT_EQ(error_of([] { max(zeros({3, 0}), 1); }), "max: found [3, 0], expected at least one element along axis 1");
}

TEST(Reduce, TheFirstMaximumWinsAndGetsTheGradient) {
  Tensor x = tensor({2, 3}, std::vector<float>{1, 5, 5, -1, -1, -2}).require_gradient();
  EXPECT_EQ(argmax(x, 1).values<int64_t>(), (std::vector<int64_t>{1, 0}));
  sum(max(x, 1)).backward();
  EXPECT_EQ(x.gradient().values<float>(), (std::vector<float>{0, 1, 0, 1, 0, 0}));
}

TEST(Reduce, NanWins) {
  const Tensor x = tensor({2, 3}, std::vector<float>{1, nan, 5, 7, 2, nan});
  for (const Tensor& y : {max(x, 1), min(x, 1), log_sum_exp(x, 1), sum(x, {1})}) {
    for (float v : y.values<float>()) EXPECT_TRUE(std::isnan(v));
  }
  EXPECT_EQ(argmax(x, 1).values<int64_t>(), (std::vector<int64_t>{1, 2}));
}

TEST(Reduce, LogSumExpOfInfinities) {
  Tensor x = tensor({3, 2}, std::vector<float>{-infinity, -infinity, -infinity, 0, 1000, 1000}).require_gradient();
  Tensor y = log_sum_exp(x, 1);
  EXPECT_EQ(y.values<float>()[0], -infinity);
  EXPECT_EQ(y.values<float>()[1], 0);
  EXPECT_NEAR(y.values<float>()[2], 1000 + std::log(2.0), 1e-4);
  y.backward(ones({3}));
  EXPECT_EQ(x.gradient().values<float>(), (std::vector<float>{0, 0, 0, 1, 0.5f, 0.5f}));
}

// Added one after the other in float, three million tenths would be wrong by a percent.
TEST(Reduce, LongSumsKeepTheirPrecision) {
  const int64_t count = 3000000;
  const auto ratio = [](const Tensor& sums, int64_t terms) {
    return sums.values<double>()[0] / (0.1f * static_cast<double>(terms));
  };
  EXPECT_NEAR(ratio(sum(full({count}, 0.1)), count), 1, 1e-5);
  EXPECT_NEAR(ratio(sum(full({count, 1}, 0.1), {0}), count), 1, 1e-5);
  EXPECT_NEAR(ratio(sum(full({count / 3, 3}, 0.1), {0}), count / 3), 1, 1e-5);
}

TEST(Reduce, VarianceIsStableFarFromZero) {
  const Tensor x = normal({1000}, Random(1)) + 1e4;
  const std::vector<double> v = x.values<double>();
  double mean = 0, squares = 0;
  for (double value : v) mean += value / 1000;
  for (double value : v) squares += (value - mean) * (value - mean) / 1000;
  EXPECT_NEAR(variance(x, {0}).item(), squares, 1e-3 * squares);
}

TEST(Reduce, SumToUndoesABroadcast) {
  const Tensor x = random_input({2, 3, 4});
  const std::vector<double> v = x.values<double>(), y = sum_to(x, {3, 1}).values<double>();
  for (size_t j = 0; j < 3; ++j) {
    double expected = 0;
    for (size_t i = 0; i < 2; ++i)
      for (size_t k = 0; k < 4; ++k) expected += v[(i * 3 + j) * 4 + k];
    EXPECT_NEAR(y[j], expected, 1e-12);
  }
  EXPECT_EQ(sum_to(zeros({2, 3}), {1, 1}).shape(), (Shape{1, 1}));
}

TEST(Reduce, ErrorsNameTheAxis) {
  EXPECT_EQ(error_of([] { sum(zeros({2, 3}), {2}); }), "axis 2: the shape [2, 3] has 2 axes");
  EXPECT_EQ(error_of([] { mean(zeros({2, 3}), {1, -1}); }), "mean: axis -1 of [2, 3] is named twice");
  EXPECT_EQ(error_of([] { sum(arange(3)); }), "sum: found numbers of type I64, expected F32 or F64");
}

TEST(Reduce, SameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    const Tensor x = normal({37, 1500, 9}, Random(1));
    return std::vector<Tensor>{sum(x),           sum(x, {0}),      sum(x, {1}),    sum(x, {2}),
                               sum(x, {0, 1}),   sum(x, {0, 2}),   max(x, 1),      log_sum_exp(x, 1),
                               variance(x, {1}), variance(x, {2}), mean(x, {1, 2})};
  });
}

TEST(Sum, EveryInstructionSetSumsOddSizes) {
  for_each_simd([&] {
    for (int64_t rows : {1, 2, 7, 129, 300}) {
      for (int64_t columns : {1, 7, 8, 17, 33, 64, 100, 5000}) {
        const int64_t stride = columns + 3;
        const std::vector<float> x = normal({rows * stride}, Random(1)).values<float>();
        std::vector<float> by_row(static_cast<size_t>(rows)), by_column(static_cast<size_t>(columns));
        kernels::row_sums({.rows = rows, .columns = columns, .stride = stride}, x.data(), by_row.data());
        kernels::column_sums({.rows = rows, .columns = columns, .stride = stride}, x.data(), by_column.data());
        for (int64_t r = 0; r < rows; ++r) {
          double sum = 0, size = 0;
          for (int64_t c = 0; c < columns; ++c) {
            sum += x[static_cast<size_t>(r * stride + c)];
            size += std::abs(x[static_cast<size_t>(r * stride + c)]);
          }
          ASSERT_NEAR(by_row[static_cast<size_t>(r)], sum, 1e-6 * size) << rows << "×" << columns;
        }
        for (int64_t c = 0; c < columns; ++c) {
          double sum = 0, size = 0;
          for (int64_t r = 0; r < rows; ++r) {
            sum += x[static_cast<size_t>(r * stride + c)];
            size += std::abs(x[static_cast<size_t>(r * stride + c)]);
          }
          ASSERT_NEAR(by_column[static_cast<size_t>(c)], sum, 1e-6 * size) << rows << "×" << columns;
        }
      }
    }
  });
}

}  // namespace
}  // namespace fovea
