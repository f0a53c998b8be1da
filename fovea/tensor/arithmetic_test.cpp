#include "fovea/tensor/arithmetic.h"

#include <limits>

#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/every_simd.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

// Away from 0, where abs, log and quotients have no derivative.
Tensor positive(const Shape& shape, uint64_t seed = 1) {
  return uniform(shape, Random(seed).fork(shape.text()), 0.5, 2, DType::f64);
}

TEST(Arithmetic, GradientsOfTheFourOperationsWithBroadcasting) {
  const std::vector<std::pair<Shape, Shape>> shapes = {{{3, 5}, {3, 5}}, {{3, 5}, {5}},   {{5}, {3, 5}},
                                                       {{3, 1}, {1, 4}}, {{2, 3, 4}, {}}, {{2, 3, 4}, {3, 1}},
                                                       {{1}, {2, 2}},    {{0, 3}, {3}},   {{7, 17}, {7, 1}}};
  for (const auto& [p, q] : shapes) {
    SCOPED_TRACE(p.text() + " and " + q.text());
    const Inputs inputs = {positive(p, 1), positive(q, 2)};
    check_gradient([](const Inputs& x) { return x[0] + x[1]; }, inputs);
    check_gradient([](const Inputs& x) { return x[0] - x[1]; }, inputs);
    check_gradient([](const Inputs& x) { return x[0] * x[1]; }, inputs);
    check_gradient([](const Inputs& x) { return x[0] / x[1]; }, inputs);
  }
}

TEST(Arithmetic, GradientsWithNumbers) {
  const Inputs inputs = {positive({4, 3})};
  check_gradient([](const Inputs& x) { return 2.5 - (x[0] + 1.0) * 3.0; }, inputs);
  check_gradient([](const Inputs& x) { return 2.5 / (x[0] - 4.0) / 3.0; }, inputs);
  check_gradient([](const Inputs& x) { return 2.0 + 3.0 * -x[0]; }, inputs);
}

TEST(Arithmetic, GradientsOfFunctions) {
  const Inputs any = {random_input({3, 7})}, above = {positive({3, 7})};
  check_gradient([](const Inputs& x) { return exp(x[0]); }, any);
  check_gradient([](const Inputs& x) { return log(x[0]); }, above);
  check_gradient([](const Inputs& x) { return sqrt(x[0]); }, above);
  check_gradient([](const Inputs& x) { return abs(x[0]); }, any);
  check_gradient([](const Inputs& x) { return power(x[0], 3); }, any);
  check_gradient([](const Inputs& x) { return power(x[0], 0.3); }, above);
  check_gradient([](const Inputs& x) { return power(x[0], 0); }, above);
  check_gradient([](const Inputs& x) { return clamp(x[0], -0.5, 0.7); }, any);
}

TEST(Arithmetic, GradientsOfChoices) {
  const Inputs inputs = {random_input({3, 5}, 1), random_input({5}, 2)};
  check_gradient([](const Inputs& x) { return maximum(x[0], x[1]); }, inputs);
  check_gradient([](const Inputs& x) { return minimum(x[0], x[1]); }, inputs);
  const Tensor condition = tensor({3, 1}, std::vector<int64_t>{1, 0, 1}).to(DType::i8);
  check_gradient([&](const Inputs& x) { return where(condition, x[0], x[1]); }, inputs);
}

TEST(Arithmetic, EqualElementsShareTheGradientOfMaximum) {
  Tensor a = tensor({2}, std::vector<float>{1, 2}).require_gradient();
  Tensor b = tensor({2}, std::vector<float>{1, 3}).require_gradient();
  sum(maximum(a, b)).backward();
  EXPECT_EQ(a.gradient().values<float>(), (std::vector<float>{0.5f, 0}));
  EXPECT_EQ(b.gradient().values<float>(), (std::vector<float>{0.5f, 1}));
}

TEST(Arithmetic, ATensorUsedTwiceGetsBothParts) {
  Tensor x = tensor({2}, std::vector<float>{3, -2}).require_gradient();
  sum(x * x + x).backward();
  EXPECT_EQ(x.gradient().values<float>(), (std::vector<float>{7, -3}));
}

TEST(Arithmetic, NanIsVisibleInMaximumMinimumAndClamp) {
  const Tensor a = tensor({3}, std::vector<float>{nan, 1, 1}), b = tensor({3}, std::vector<float>{1, nan, 1});
  for (const Tensor& y : {maximum(a, b), minimum(a, b)}) {
    EXPECT_TRUE(std::isnan(y.values<float>()[0]));
    EXPECT_TRUE(std::isnan(y.values<float>()[1]));
    EXPECT_EQ(y.values<float>()[2], 1);
  }
  EXPECT_TRUE(std::isnan(clamp(a, 0, 1).values<float>()[0]));
}

TEST(Arithmetic, NanOnTheOtherSideOfWhereDoesNotLeak) {
  Tensor a = tensor({2}, std::vector<float>{-1, 4}).require_gradient();
  const Tensor condition = tensor({2}, std::vector<int64_t>{0, 1}).to(DType::i8);
  Tensor y = where(condition, sqrt(a), zeros({}));
  EXPECT_EQ(y.values<float>(), (std::vector<float>{0, 2}));
  const Tensor dy = tensor({2}, std::vector<float>{nan, 1});
  Tensor b = tensor({2}, std::vector<float>{1, 1}).require_gradient();
  where(condition, b, zeros({})).backward(dy);
  EXPECT_EQ(b.gradient().values<float>(), (std::vector<float>{0, 1}));
}

TEST(Arithmetic, WhereChoosesIndicesToo) {
  const Tensor condition = tensor({2, 1}, std::vector<int64_t>{1, 0}).to(DType::i8);
  const Tensor y = where(condition, arange(3), tensor({}, std::vector<int64_t>{-100}));
  EXPECT_EQ(y.values<int64_t>(), (std::vector<int64_t>{0, 1, 2, -100, -100, -100}));
}

TEST(Arithmetic, AddIntoChangesTheNumbersInPlace) {
  Tensor x = ones({2, 3});
  Tensor column = x.slice(1, 1, 2);
  add_into(column, tensor({2, 1}, std::vector<float>{5, 7}));
  add_into(x, tensor({3}, std::vector<float>{0, 0, 1}));
  EXPECT_EQ(x.values<float>(), (std::vector<float>{1, 6, 2, 1, 8, 2}));
}

TEST(Arithmetic, ErrorsNameTheOperationAndBothSides) {
  EXPECT_EQ(error_of([] {
              zeros({2, 3}) + zeros({4});
            }),
            "add: found shapes [2, 3] and [4], expected axes that are equal or 1");
  EXPECT_EQ(error_of([] { zeros({2}) * zeros({2}, DType::f64); }),
            "multiply: found F32 and F64, expected two tensors of one type");
  EXPECT_EQ(error_of([] { exp(arange(3)); }), "exp: found numbers of type I64, expected F32 or F64");
  EXPECT_EQ(error_of([] { where(zeros({2}), zeros({2}), zeros({2})); }),
            "where: found a condition of type F32, expected I8");
  EXPECT_EQ(error_of([] {
              Tensor s = zeros({2});
              add_into(s, zeros({2, 2}));
            }),
            "add_into: found [2, 2], expected a shape that repeats to [2]");
}

TEST(Arithmetic, SameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    Tensor a = normal({300, 257}, Random(1)).require_gradient(), b = normal({257}, Random(2)).require_gradient();
    Tensor y = exp(a * b) / (abs(a) + 1.0) - b;
    y.backward(normal(y.shape(), Random(3)));
    return std::vector<Tensor>{y, a.gradient(), b.gradient()};
  });
}

using kernels::Binary;

TEST(Elementwise, EveryInstructionSetRoundsEachOperationOnce) {
  for_each_simd([&] {
    for (int64_t count : {0, 1, 3, 7, 8, 17, 33, 64, 100}) {
      std::vector<float> a = normal({count + 1}, Random(1)).values<float>(),
                         b = normal({count + 1}, Random(2)).values<float>();
      if (count > 7) a[1] = nan, a[2] = infinity, b[2] = -infinity, b[3] = 0;
      for (auto [p, q] : {std::pair{1, 1}, {1, 0}, {0, 1}, {0, 0}}) {
        for (Binary op : {Binary::add, Binary::subtract, Binary::multiply, Binary::divide}) {
          std::vector<float> y(static_cast<size_t>(count) + 1, 42);
          kernels::combine(op, count, {a.data(), p}, {b.data(), q}, y.data());
          for (int64_t i = 0; i < count; ++i) {
            const double u = a[static_cast<size_t>(i * p)], v = b[static_cast<size_t>(i * q)];
            const double exact = op == Binary::add        ? u + v
                                 : op == Binary::subtract ? u - v
                                 : op == Binary::multiply ? u * v
                                                          : u / v;
            const float expected = static_cast<float>(exact), found = y[static_cast<size_t>(i)];
            EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << i << " of " << count;
          }
          EXPECT_EQ(y.back(), 42);
        }
      }
    }
  });
}

TEST(Elementwise, FunctionsOnEveryInstructionSet) {
  for_each_simd([&] {
    for (int64_t count : {0, 1, 7, 17, 33, 100}) {
      const Tensor x = normal({count}, Random(1), 0, 10);
      const std::vector<float> v = x.values<float>(), e = exp(x).values<float>(), l = log(x).values<float>();
      const std::vector<float> r = sqrt(x).values<float>();
      for (size_t i = 0; i < v.size(); ++i) {
        const double exact = v[i];
        EXPECT_NEAR(e[i] / std::exp(exact), 1, 3e-7);
        EXPECT_EQ(std::isnan(l[i]), exact < 0);
        EXPECT_EQ(std::isnan(r[i]), exact < 0);
        if (exact < 0) continue;
        EXPECT_NEAR(l[i], std::log(exact), 1e-6);
        EXPECT_FLOAT_EQ(r[i], std::sqrt(v[i]));
      }
    }
  });
}

}  // namespace
}  // namespace fovea
