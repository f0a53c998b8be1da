#include "fovea/kernels/packed.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/every_simd.h"
#include "fovea/kernels/product_testing.h"
#include "fovea/kernels/unit.h"

namespace fovea::kernels {
namespace {

constexpr Precision every_precision[] = {Precision::f32, Precision::bf16, Precision::int8};

// Whole numbers and their scale as packed.h defines them: of weights by the largest, of x by the largest sum of two neighbours.
struct Rounded {
  std::vector<int> numbers;
  float scale = 0;
};
Rounded rounded(const float* x, int64_t count, int64_t together = 1) {
  float largest = 0;
  for (int64_t i = 0; i < count; i += together) {
    const float next = together == 2 && i + 1 < count ? std::fabs(x[i + 1]) : 0;
    largest = std::fmax(largest, std::fabs(x[i]) + next);
  }
  const float most = together == 1 ? 127 : 126;
  Rounded r = {std::vector<int>(static_cast<size_t>(count)), largest / most};
  for (int64_t i = 0; i < count && largest > 0; ++i) {
    r.numbers[size_t(i)] = static_cast<int>(std::nearbyint(x[i] * (most / largest)));
  }
  return r;
}

// The float of eight bits of mantissa that is nearest, the even one of two.
float in_bf16(float x) {
  int exponent;
  const double fraction = std::frexp(double(x), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8));
}

using PackedProduct = EverySimd;
INSTANTIATE_TEST_SUITE_P(, PackedProduct, testing::ValuesIn(emulated_simds()), simd_name);

struct Case {
  int64_t rows, columns, depth;
};
std::vector<Case> odd_cases() {
  std::vector<Case> cases;
  for (int64_t depth = 1; depth <= 9; ++depth) {
    for (int64_t columns : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40}) {
      for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 25, 40}) cases.push_back({rows, columns, depth});
    }
  }
  for (int64_t rows : {1, 2, 3, 5, 29, 200}) cases.push_back({rows, 50, 3001});
  return cases;
}

TEST_P(PackedProduct, Int8IsTheExactIntegerSumTimesItsScales) {
  for (const auto& [rows, columns, depth] : odd_cases()) {
    const Floats x = random_floats(rows * depth, 1), w = random_floats(columns * depth, 2);
    Floats y(size_t(rows * columns + 1), 7.0f);
    multiply(rows, {x.data(), depth, 1}, PackedWeight(Precision::int8, w, depth, columns), {y.data(), columns});
    std::vector<Rounded> b;
    for (int64_t j = 0; j < columns; ++j) b.push_back(rounded(&w[size_t(j * depth)], depth));
    for (int64_t r = 0; r < rows; ++r) {
      const Rounded a = rounded(&x[size_t(r * depth)], depth, 2);
      for (int64_t j = 0; j < columns; ++j) {
        int64_t sum = 0;
        for (size_t k = 0; k < size_t(depth); ++k) sum += int64_t{a.numbers[k]} * b[size_t(j)].numbers[k];
        ASSERT_EQ(y[size_t(r * columns + j)], static_cast<float>(sum) * a.scale * b[size_t(j)].scale)
            << rows << "x" << columns << "x" << depth << " at " << r << ", " << j;
      }
    }
    ASSERT_EQ(y.back(), 7.0f) << "wrote behind C";
  }
}

TEST_P(PackedProduct, Bf16EqualsFloat64OfTheRoundedWeights) {
  const bool rounds = unit_of(Precision::bf16) != Unit::vectors;  // x, too
  for (const auto& [rows, columns, depth] : odd_cases()) {
    // Behind the last row stands a NaN: whoever reads an element more than the depth gets it into the sum.
    Floats x = random_floats(rows * depth, 1);
    const Floats w = random_floats(columns * depth, 2);
    x.push_back(std::numeric_limits<float>::quiet_NaN());
    Floats y(size_t(rows * columns + 1), 7.0f);
    multiply(rows, {x.data(), depth, 1}, PackedWeight(Precision::bf16, w, depth, columns), {y.data(), columns});
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < columns; ++j) {
        double value = 0, size = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const float element = x[size_t(r * depth + k)];
          const double term = double(rounds ? in_bf16(element) : element) * in_bf16(w[size_t(j * depth + k)]);
          value += term, size += std::abs(term);
        }
        ASSERT_NEAR(y[size_t(r * columns + j)], value, 1e-7 * std::sqrt(double(depth) + 1) * size)
            << rows << "x" << columns << "x" << depth << " at " << r << ", " << j;
      }
    }
    ASSERT_EQ(y.back(), 7.0f) << "wrote behind C";
  }
}

TEST_P(PackedProduct, F32HasTheBitsOfGemm) {
  for (const auto& [rows, columns, depth] : {Case{1, 35, 20}, Case{3, 33, 7}, Case{40, 96, 2000}}) {
    const Floats x = random_floats(rows * depth, 1), w = random_floats(columns * depth, 2);
    Floats y(size_t(rows * columns)), expected(y.size());
    multiply(rows, {x.data(), depth, 1}, PackedWeight(Precision::f32, w, depth, columns), {y.data(), columns});
    gemm({rows, columns, depth}, {x.data(), depth, 1}, Matrix{w.data(), 1, depth}, {expected.data(), columns});
    EXPECT_EQ(bits_of(y), bits_of(expected));
  }
}

TEST_P(PackedProduct, SameBitsForAnyNumberOfRowsAndThreadsAndAnyStrides) {
  const int64_t most = 67, columns = 200, depth = 3203;
  const Floats x = random_floats(most * depth, 1), w = random_floats(columns * depth, 2);
  Floats across(x.size());
  for (int64_t i = 0; i < most * depth; ++i) across[size_t(i % depth * most + i / depth)] = x[size_t(i)];
  for (Precision p : every_precision) {
    const PackedWeight packed(p, w, depth, columns);
    Floats reference(size_t(most * columns));
    set_threads(1);
    for (int64_t r = 0; r < most; ++r) {
      multiply(1, {&x[size_t(r * depth)], depth, 1}, packed, {&reference[size_t(r * columns)], columns});
    }
    for (int threads : {1, 3}) {
      set_threads(threads);
      for (int64_t rows : {2, 3, 4, 5, 8, 13, 67}) {
        for (const Matrix& a : {Matrix{x.data(), depth, 1}, Matrix{across.data(), 1, most}}) {
          Floats y(size_t(rows * columns));
          multiply(rows, a, packed, {y.data(), columns});
          ASSERT_TRUE(std::equal(y.begin(), y.end(), reference.begin()))
              << name(p) << ", " << rows << " rows, " << threads << " threads";
        }
      }
    }
  }
}

TEST_P(PackedProduct, SeveralProductsAreTheSingleOnes) {
  const int64_t depth = 130;
  const int64_t columns[] = {40, 1, 256};
  for (int threads : {1, 2}) {
    set_threads(threads);
    for (int64_t rows : {0, 1, 5, 64}) {
      for (Precision first : every_precision) {
        const Floats x = random_floats(rows * depth, 1), bias = random_floats(256, 2);
        std::vector<std::unique_ptr<PackedWeight>> packed;
        std::vector<Floats> together, alone;
        std::vector<Product> products;
        for (size_t i = 0; i < 3; ++i) {
          const Precision p = i == 2 ? Precision::f32 : first;
          packed.push_back(
              std::make_unique<PackedWeight>(p, random_floats(columns[i] * depth, 3 + i), depth, columns[i]));
          together.emplace_back(size_t(rows * columns[i])), alone.emplace_back(together.back().size());
        }
        for (size_t i = 0; i < 3; ++i) {
          const Epilogue e = {.bias = i == 0 ? bias.data() : nullptr};
          products.push_back({*packed[i], {together[i].data(), columns[i]}, e});
          multiply(rows, {x.data(), depth, 1}, *packed[i], {alone[i].data(), columns[i]}, e);
        }
        multiply(rows, {x.data(), depth, 1}, products);
        EXPECT_EQ(together, alone) << name(first) << ", " << rows << " rows";
      }
    }
  }
}

TEST_P(PackedProduct, FinishesWithBiasSummandActivationAndResidual) {
  for (const auto& [rows, columns, depth] : {Case{1, 35, 20}, Case{5, 35, 20}, Case{40, 96, 4001}}) {
    const auto count = static_cast<size_t>(rows * columns);
    const Floats x = random_floats(rows * depth, 1), w = random_floats(columns * depth, 2);
    const Floats bias = random_floats(columns, 3), summand = random_floats(rows * columns, 4);
    const Floats residual = random_floats(rows * columns, 5);
    for (Precision p : every_precision) {
      const PackedWeight packed(p, w, depth, columns);
      Floats sums(count);
      multiply(rows, {x.data(), depth, 1}, packed, {sums.data(), columns});
      for (bool add : {false, true}) {
        Floats y = summand, kept(count), in_place = residual;
        const Epilogue e = {.bias = bias.data(),
                            .add = add,
                            .activation = Activation::tanh,
                            .before = {kept.data(), columns},
                            .residual = {residual.data(), columns}};
        multiply(rows, {x.data(), depth, 1}, packed, {y.data(), columns}, e);
        for (size_t i = 0; i < count; ++i) {
          const double argument = double(sums[i]) + bias[i % size_t(columns)] + (add ? summand[i] : 0);
          const double tolerance = 1e-6 * std::sqrt(double(depth)) * 4;
          ASSERT_NEAR(kept[i], argument, tolerance) << name(p);
          ASSERT_NEAR(y[i], std::tanh(argument) + residual[i], tolerance) << name(p);
        }
        if (add) continue;
        multiply(rows, {x.data(), depth, 1}, packed, {in_place.data(), columns},
                 {.bias = bias.data(), .activation = Activation::tanh, .residual = {in_place.data(), columns}});
        EXPECT_EQ(in_place, y) << "a residual that is C itself";
      }
    }
  }
}

TEST(PackedProducts, Int8HasTheSameBitsOnEveryInstructionSet) {
  const int64_t rows = 23, columns = 70, depth = 4003;
  const Floats x = random_floats(rows * depth, 1), w = random_floats(columns * depth, 2);
  const Floats bias = random_floats(columns, 3), residual = random_floats(rows * columns, 4);
  std::vector<std::vector<uint32_t>> results;
  for_each_simd(
      [&] {
        Floats y(size_t(rows * columns));
        multiply(rows, {x.data(), depth, 1}, PackedWeight(Precision::int8, w, depth, columns), {y.data(), columns},
                 {.bias = bias.data(), .activation = Activation::relu, .residual = {residual.data(), columns}});
        results.push_back(bits_of(y));
      },
      emulated_simds());
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST_P(PackedProduct, NaNAndInfinityStayInTheirRow) {
  const int64_t columns = 20, depth = 9;
  for (int64_t rows : {7, 14}) {
    Floats x = random_floats(rows * depth, 1);
    x[size_t(3 * depth + 4)] = std::numeric_limits<float>::quiet_NaN();
    x[size_t(5 * depth + 8)] = -std::numeric_limits<float>::infinity();
    for (Precision p : every_precision) {
      Floats y(size_t(rows * columns));
      multiply(rows, {x.data(), depth, 1}, PackedWeight(p, random_floats(columns * depth, 2), depth, columns),
               {y.data(), columns});
      for (int64_t i = 0; i < rows * columns; ++i) {
        const int64_t r = i / columns;
        EXPECT_EQ(std::isfinite(y[size_t(i)]), r != 3 && r != 5) << name(p) << " row " << r;
        EXPECT_EQ(std::isnan(y[size_t(i)]), r == 3 || (r == 5 && p == Precision::int8)) << name(p) << " row " << r;
      }
    }
  }
}

TEST_P(PackedProduct, WeightsThatAreNotNumbersStayInTheirColumn) {
  const int64_t columns = 20, depth = 9;
  Floats w = random_floats(columns * depth, 1);
  w[size_t(3 * depth + 4)] = std::bit_cast<float>(0x7fffffffu);  // rounding its bits up would make it −0
  w[size_t(5 * depth + 8)] = std::numeric_limits<float>::infinity();
  const Floats x = random_floats(depth, 2);
  for (Precision p : every_precision) {
    const PackedWeight packed(p, w, depth, columns);
    Floats y(static_cast<size_t>(columns)), row(static_cast<size_t>(depth));
    multiply(1, {x.data(), depth, 1}, packed, {y.data(), columns});
    for (int64_t j = 0; j < columns; ++j) EXPECT_EQ(std::isfinite(y[size_t(j)]), j != 3 && j != 5) << name(p);
    unpack_column(packed, 3, row.data());
    EXPECT_TRUE(std::isnan(row[4])) << name(p);
  }
}

TEST_P(PackedProduct, ZerosAndTheSmallestNumbersGiveZeros) {
  const int64_t columns = 3, depth = 5;
  const Floats zeros(size_t(columns * depth)), ones(size_t(columns * depth), 1.0f);
  const Floats smallest(size_t(depth), std::numeric_limits<float>::denorm_min());
  for (Precision p : every_precision) {
    Floats y(3, 5.0f);
    multiply(1, {ones.data(), depth, 1}, PackedWeight(p, zeros, depth, columns), {y.data(), columns});
    EXPECT_EQ(y, Floats(3)) << name(p);
    multiply(1, {zeros.data(), depth, 1}, PackedWeight(p, ones, depth, columns), {y.data(), columns});
    EXPECT_EQ(y, Floats(3)) << name(p);
    multiply(1, {smallest.data(), depth, 1}, PackedWeight(p, ones, depth, columns), {y.data(), columns});
    for (float value : y) EXPECT_NEAR(value, 0, 1e-30) << name(p);
  }
}

TEST_P(PackedProduct, UnpacksAColumn) {
  for (int64_t depth : {1, 2, 5, 64}) {
    for (int64_t columns : {1, 16, 37}) {
      const Floats w = random_floats(columns * depth, 1);
      for (Precision p : every_precision) {
        const PackedWeight packed(p, w, depth, columns);
        for (int64_t j = 0; j < columns; ++j) {
          Floats column(size_t(depth + 1), 7.0f);
          unpack_column(packed, j, column.data());
          const Rounded r = rounded(&w[size_t(j * depth)], depth);
          for (size_t k = 0; k < size_t(depth); ++k) {
            const float value = w[size_t(j * depth) + k];
            const float expected = p == Precision::f32    ? value
                                   : p == Precision::bf16 ? in_bf16(value)
                                                          : static_cast<float>(r.numbers[k]) * r.scale;
            ASSERT_EQ(column[k], expected) << name(p) << " column " << j << " of " << columns << ", " << k;
          }
          ASSERT_EQ(column.back(), 7.0f);
        }
        EXPECT_THROW(unpack_column(packed, columns, nullptr), Error);
        EXPECT_THROW(unpack_column(packed, -1, nullptr), Error);
      }
    }
  }
}

// The layout may stand in files, so it is the same everywhere and for weights of any strides.
TEST_P(PackedProduct, HasTheLayoutThatTheHeaderDescribes) {
  const int64_t depth = 6, columns = 21;
  Floats w(size_t(columns * depth));
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 2 ? -int64_t(i) : int64_t(i));
  w[0] = 127;
  Floats across(w.size());
  for (int64_t i = 0; i < columns * depth; ++i) across[size_t(i % depth * columns + i / depth)] = w[size_t(i)];
  std::vector<uint16_t> halves(2 * 3 * 16 * 2);
  ASSERT_EQ(packed_bytes(Precision::bf16, depth, columns), int64_t(halves.size() * 2));
  ASSERT_EQ(packed_bytes(Precision::int8, depth, columns), (2 * 2 * 16 * 4 + columns * 4 + 63) / 64 * 64);
  for (const Matrix& b : {Matrix{w.data(), 1, depth}, Matrix{across.data(), columns, 1}}) {
    pack(Precision::bf16, b, depth, columns, reinterpret_cast<std::byte*>(halves.data()));
    for (int64_t i = 0; i < int64_t(halves.size()); ++i) {
      const int64_t column = i / 96 * 16 + i / 2 % 16, k = i / 32 % 3 * 2 + i % 2;
      const float expected = column < columns ? in_bf16(w[size_t(column * depth + k)]) : 0;
      EXPECT_EQ(halves[size_t(i)], std::bit_cast<uint32_t>(expected) >> 16);
    }
    alignas(64) std::byte bytes[384];  // 2 · 2 · 16 · 4, then 21 · 4, to the end of a cache line
    pack(Precision::int8, b, depth, columns, bytes);
    for (int64_t i = 0; i < 256; ++i) {
      const int64_t column = i / 128 * 16 + i / 4 % 16, k = i / 64 % 2 * 4 + i % 4;
      const int expected =
          column < columns && k < depth ? rounded(&w[size_t(column * depth)], depth).numbers[size_t(k)] : 0;
      EXPECT_EQ(static_cast<int>(static_cast<int8_t>(bytes[i])), expected) << i;
    }
    EXPECT_EQ(*reinterpret_cast<const float*>(bytes + 256), 1.0f);
  }
}

TEST(PackedProducts, RefuseWhatTheyCannotMultiply) {
  const int64_t deepest = 133144;  // 127 · 127 · 133144 < 2³¹
  const Floats x(size_t(deepest), 1.0f);
  const PackedWeight packed(Precision::int8, x, deepest, 1);
  float y = 0;
  multiply(1, {x.data(), deepest, 1}, packed, {&y, 1});
  EXPECT_NEAR(y, deepest, 0.1);
  EXPECT_THROW(packed_bytes(Precision::int8, deepest + 1, 1), Error);
  EXPECT_THROW(pack(Precision::int8, {x.data(), 1, 1}, deepest + 1, 1, nullptr), Error);
  EXPECT_THROW(multiply(1, {x.data(), 1, 1}, {Precision::int8, deepest + 1, 1, nullptr}, {&y, 1}), Error);
  EXPECT_THROW(multiply(-1, {x.data(), 1, 1}, packed, {&y, 1}), Error);
  const PackedMatrix other = {Precision::f32, 2, 1, nullptr};
  const Product products[] = {{packed, {&y, 1}}, {other, {&y, 1}}};
  EXPECT_THROW(multiply(1, {x.data(), deepest, 1}, products), Error);
}

TEST_P(PackedProduct, EmptyDimensions) {
  const Floats x(10, 1.0f), bias = {1, 2, 3};
  for (Precision p : every_precision) {
    Floats y(6, 5.0f);
    multiply(0, {x.data(), 2, 1}, PackedWeight(p, x, 2, 3), {y.data(), 3});
    multiply(2, {x.data(), 2, 1}, PackedWeight(p, x, 2, 0), {y.data(), 3});
    multiply(2, {x.data(), 2, 1}, std::span<const Product>());
    EXPECT_EQ(y, Floats(6, 5.0f));
    multiply(2, {x.data(), 0, 1}, PackedWeight(p, x, 0, 3), {y.data(), 3}, {.bias = bias.data()});
    EXPECT_EQ(y, (Floats{1, 2, 3, 1, 2, 3}));
  }
}

}  // namespace
}  // namespace fovea::kernels
