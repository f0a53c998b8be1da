#include "fovea/kernels/gemm.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/every_simd.h"
#include "fovea/kernels/product_testing.h"
#include "fovea/kernels/unit.h"

namespace fovea::kernels {
namespace {

using Gemm = EverySimd;
INSTANTIATE_TEST_SUITE_P(, Gemm, testing::ValuesIn(supported_simds()), simd_name);

// Element (r, c) of the product in float64, and the size of its terms, to which rounding errors are proportional.
struct Exact {
  double value = 0, size = 0;
};
Exact exact(const Matrix& a, const Matrix& b, int64_t depth, int64_t r, int64_t c) {
  Exact e;
  for (int64_t k = 0; k < depth; ++k) {
    double term =
        double(a.data[r * a.row_stride + k * a.column_stride]) * b.data[k * b.row_stride + c * b.column_stride];
    e.value += term, e.size += std::abs(term);
  }
  return e;
}

void expect_product(const GemmShape& s, const Matrix& a, const Matrix& b, const Floats& c, int64_t stride) {
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t j = 0; j < s.columns; ++j) {
      Exact e = exact(a, b, s.depth, r, j);
      ASSERT_NEAR(c[size_t(r * stride + j)], e.value, 1e-7 * std::sqrt(double(s.depth) + 1) * (e.size + 1))
          << s.rows << "x" << s.columns << "x" << s.depth << " at " << r << ", " << j;
    }
  }
}

TEST_P(Gemm, EqualsFloat64ForOddShapesAndAnyStrides) {
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 12, 13, 17, 33, 100}) {
    for (int64_t columns : {1, 7, 15, 16, 17, 33, 48, 130}) {
      for (int64_t depth : {1, 5, 33, 64}) {
        const GemmShape s = {rows, columns, depth};
        const Floats x = random_floats(rows * depth, 1), w = random_floats(depth * columns, 2);
        for (int layout = 0; layout < 4; ++layout) {
          const Matrix a = layout & 1 ? Matrix{x.data(), 1, rows} : Matrix{x.data(), depth, 1};
          const Matrix b = layout & 2 ? Matrix{w.data(), 1, depth} : Matrix{w.data(), columns, 1};
          const int64_t stride = columns + 3;
          Floats c(size_t(rows * stride), 7.0f);
          gemm(s, a, b, {c.data(), stride});
          expect_product(s, a, b, c, stride);
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t j = columns; j < stride; ++j) ASSERT_EQ(c[size_t(r * stride + j)], 7.0f) << "wrote beside C";
          }
        }
      }
    }
  }
}

Floats rounded_to_bf16(const Floats& x) {
  Floats r = x;
  for (float& f : r) {
    const uint32_t bits = std::bit_cast<uint32_t>(f);
    f = std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
  }
  return r;
}

// As the products of a training in bf16 are: x Wᵀ, dy W and dyᵀ x.
class RoundingGemm : public EverySimd {};
INSTANTIATE_TEST_SUITE_P(, RoundingGemm, testing::ValuesIn(emulated_simds()), simd_name);

TEST_P(RoundingGemm, EqualsFloat64OfOperandsInBf16ForOddShapesAndAnyStrides) {
  for (int64_t rows : {1, 3, 13, 17, 37, 100}) {
    for (int64_t columns : {1, 15, 33, 130}) {
      for (int64_t depth : {1, 5, 33, 64, 71}) {
        const GemmShape s = {rows, columns, depth};
        const Floats x = random_floats(rows * depth, 1), w = random_floats(depth * columns, 2);
        const Floats rounded = rounded_to_bf16(w);
        const Floats read = unit_of(Precision::bf16) == Unit::vectors ? x : rounded_to_bf16(x);
        for (int layout = 0; layout < 4; ++layout) {
          const auto a_of = [&](const Floats& v) {
            return layout & 1 ? Matrix{v.data(), 1, rows} : Matrix{v.data(), depth, 1};
          };
          const auto b_of = [&](const Floats& v) {
            return layout & 2 ? Matrix{v.data(), 1, depth} : Matrix{v.data(), columns, 1};
          };
          Floats c(size_t(rows * columns));
          gemm(s, a_of(x), b_of(w), {c.data(), columns}, {}, Precision::bf16);
          expect_product(s, a_of(read), b_of(rounded), c, columns);
        }
      }
    }
  }
}

TEST_P(Gemm, EqualsFloat64ForADeepProduct) {
  const GemmShape s = {29, 50, 3001};
  const Floats x = random_floats(s.rows * s.depth, 1), w = random_floats(s.depth * s.columns, 2);
  const Matrix a = {x.data(), s.depth, 1}, b = {w.data(), 1, s.depth};
  Floats c(size_t(s.rows * s.columns));
  gemm(s, a, b, {c.data(), s.columns});
  expect_product(s, a, b, c, s.columns);
}

double in_double(Activation f, double x) {
  switch (f) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::gelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
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

TEST_P(Gemm, FinishesWithBiasSummandActivationAndResidual) {
  for (GemmShape s : {GemmShape{1, 35, 20}, {5, 35, 20}, {40, 96, 2000}}) {
    const Floats x = random_floats(s.rows * s.depth, 1), w = random_floats(s.depth * s.columns, 2);
    const Floats bias = random_floats(s.columns, 3), summand = random_floats(s.rows * s.columns, 4);
    const Floats residual = random_floats(s.rows * s.columns, 5);
    const Matrix a = {x.data(), s.depth, 1}, b = {w.data(), 1, s.depth};
    for (Activation f : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                         Activation::tanh, Activation::sigmoid}) {
      for (bool add : {false, true}) {
        Floats c = summand, kept(c.size()), in_place = residual;
        const Epilogue e = {.bias = bias.data(),
                            .add = add,
                            .activation = f,
                            .before = {kept.data(), s.columns},
                            .residual = {residual.data(), s.columns}};
        gemm(s, a, b, {c.data(), s.columns}, e);
        for (int64_t i = 0; i < s.rows * s.columns; ++i) {
          Exact sum = exact(a, b, s.depth, i / s.columns, i % s.columns);
          double argument = sum.value + bias[size_t(i % s.columns)] + (add ? summand[size_t(i)] : 0);
          double tolerance = 3e-7 * std::sqrt(double(s.depth)) * (sum.size / std::sqrt(double(s.depth)) + 1);
          ASSERT_NEAR(kept[size_t(i)], argument, tolerance);
          ASSERT_NEAR(c[size_t(i)], in_double(f, argument) + residual[size_t(i)], 2 * tolerance);
        }
        if (add) continue;
        gemm(s, a, b, {in_place.data(), s.columns},
             {.bias = bias.data(), .activation = f, .residual = {in_place.data(), s.columns}});
        EXPECT_EQ(in_place, c) << "a residual that is C itself";
      }
    }
  }
}

TEST_P(Gemm, SameBitsForAnyNumberOfRowsAndThreads) {
  const GemmShape s = {67, 200, 1700};
  const Floats x = random_floats(s.rows * s.depth, 1), w = random_floats(s.depth * s.columns, 2);
  Floats packed(size_t(packed_size(s.depth, s.columns)));
  pack({w.data(), 1, s.depth}, s.depth, s.columns, packed.data());
  Floats reference(size_t(s.rows * s.columns));
  set_threads(1);
  gemm(s, {x.data(), s.depth, 1}, packed.data(), {reference.data(), s.columns});
  for (int threads : {1, 2, 3}) {
    set_threads(threads);
    for (int64_t rows : {1, 2, 3, 4, 6, 11, 23, 40, 67}) {
      Floats c(size_t(rows * s.columns));
      gemm({rows, s.columns, s.depth}, {x.data(), s.depth, 1}, packed.data(), {c.data(), s.columns});
      ASSERT_TRUE(std::equal(c.begin(), c.end(), reference.begin())) << rows << " rows, " << threads << " threads";
    }
  }
}

TEST_P(Gemm, NaNAndInfinityStayInTheirRow) {
  const GemmShape s = {14, 20, 9};
  Floats x = random_floats(s.rows * s.depth, 1);
  const Floats w = random_floats(s.depth * s.columns, 2);
  x[size_t(3 * s.depth + 4)] = std::numeric_limits<float>::quiet_NaN();
  x[size_t(5 * s.depth + 1)] = std::numeric_limits<float>::infinity();
  Floats c(size_t(s.rows * s.columns));
  gemm(s, {x.data(), s.depth, 1}, Matrix{w.data(), s.columns, 1}, {c.data(), s.columns});
  for (int64_t i = 0; i < s.rows * s.columns; ++i) {
    const int64_t r = i / s.columns;
    EXPECT_EQ(std::isnan(c[size_t(i)]), r == 3);
    EXPECT_EQ(std::isinf(c[size_t(i)]), r == 5);
  }
}

TEST_P(Gemm, EmptyDimensions) {
  const Floats x(10, 1.0f), bias = {1, 2, 3};
  Floats c(6, 5.0f);
  gemm({0, 3, 2}, {x.data(), 2, 1}, Matrix{x.data(), 3, 1}, {c.data(), 3});
  gemm({2, 0, 2}, {x.data(), 2, 1}, Matrix{x.data(), 0, 1}, {c.data(), 3});
  EXPECT_EQ(c, Floats(6, 5.0f));
  gemm({2, 3, 0}, {x.data(), 0, 1}, Matrix{x.data(), 3, 1}, {c.data(), 3}, {.bias = bias.data()});
  EXPECT_EQ(c, (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_THROW(gemm({-1, 3, 2}, {x.data(), 2, 1}, Matrix{x.data(), 3, 1}, {c.data(), 3}), Error);
}

TEST_P(Gemm, PacksInPanelsOfSixteenFilledWithZeros) {
  const int64_t depth = 5, columns = 21;
  const Floats w = random_floats(depth * columns, 2);
  Floats packed(size_t(packed_size(depth, columns)), 9.0f);
  ASSERT_EQ(packed.size(), size_t(2 * depth * 16));
  pack({w.data(), columns, 1}, depth, columns, packed.data());
  for (int64_t i = 0; i < int64_t(packed.size()); ++i) {
    const int64_t column = i / (16 * depth) * 16 + i % 16, k = i / 16 % depth;
    EXPECT_EQ(packed[size_t(i)], column < columns ? w[size_t(k * columns + column)] : 0.0f);
  }
}

TEST_P(Gemm, ManyProductsAtOnce) {
  const GemmShape s = {9, 18, 11};
  const int64_t count = 5;
  const Floats x = random_floats(count * s.rows * s.depth, 1), w = random_floats(s.depth * s.columns, 2);
  Floats c(size_t(count * s.rows * s.columns), 0.5f);
  const Matrix a = {x.data(), s.depth, 1}, b = {w.data(), s.columns, 1};
  batched_gemm(count, s, a, b, {c.data(), s.columns}, {.a = s.rows * s.depth, .b = 0, .c = s.rows * s.columns}, true);
  for (float& value : c) value -= 0.5f;
  expect_product({count * s.rows, s.columns, s.depth}, a, b, c, s.columns);
}

}  // namespace
}  // namespace fovea::kernels
