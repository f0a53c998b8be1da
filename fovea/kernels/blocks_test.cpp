// Blocks against the numbers of the gguf package (tests/golden/make_gguf.py), and products with them against float64.
#include "fovea/kernels/blocks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/half.h"
#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/block_panels.h"
#include "fovea/kernels/every_simd.h"
#include "fovea/kernels/product_testing.h"

namespace fovea::kernels {
namespace {

using Bytes = std::vector<std::byte>;

// Any bits but for the halves d and m, which are numbers such as a file has, some of them subnormal.
Bytes random_blocks(BlockType type, int64_t count, uint64_t seed) {
  Random random(seed);
  const Block block = block_of(type);
  Bytes bytes(static_cast<size_t>(count / block.numbers * block.bytes));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(random.uniform(i) * 255.99f);
  const int64_t last = block.bytes - 2;
  std::vector<int64_t> halves = {type == BlockType::q6_K || type == BlockType::q3_K ? last : 0};
  if (type == BlockType::q2_K) halves = {80, 82};
  if (form_of(type).mins && type != BlockType::q2_K) halves.push_back(2);
  for (int64_t b = 0; b < count / block.numbers; ++b) {
    for (int64_t at : halves) {
      const auto i = static_cast<uint64_t>(b * 4 + at);
      const uint16_t half = half_of_float(random.normal(i) * (b % 5 == 4 ? 1e-5f : 0.01f));
      std::memcpy(&bytes[static_cast<size_t>(b * block.bytes + at)], &half, 2);
    }
  }
  return bytes;
}

struct Case {
  int64_t rows, columns, blocks;  // blocks of a row of W
};

using BlockProduct = EverySimd;
INSTANTIATE_TEST_SUITE_P(, BlockProduct, testing::ValuesIn(supported_simds()), simd_name);

// x is rounded by at most half of a step of max |x| / 127 in its group of 32; the rest is f32's rounding.
TEST_P(BlockProduct, IsTheProductWithWhatTheBlocksStandFor) {
  for (BlockType type : block_types) {
    for (const auto& [rows, columns, blocks] : {Case{1, 35, 3}, Case{2, 16, 1}, Case{5, 33, 2}, Case{13, 17, 2}}) {
      const int64_t depth = blocks * block_of(type).numbers;
      const Bytes w = random_blocks(type, columns * depth, 2);
      Floats numbers(size_t(columns * depth)), x = random_floats(rows * depth, 1);
      dequantise(type, w.data(), columns * depth, numbers.data());
      Floats y(size_t(rows * columns + 1), 7.0f);
      multiply(rows, {x.data(), depth, 1}, PackedWeight(type, w, depth, columns), {y.data(), columns});
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t j = 0; j < columns; ++j) {
          double value = 0, tolerance = 0;
          for (int64_t g = 0; g < depth / 32; ++g) {
            double largest = 0, sizes = 0;
            for (int64_t k = g * 32; k < g * 32 + 32; ++k) {
              const double a = x[size_t(r * depth + k)], b = numbers[size_t(j * depth + k)];
              value += a * b, largest = std::max(largest, std::abs(a)), sizes += std::abs(b);
            }
            tolerance += sizes * largest * (0.5 / 127 + 1e-5);
          }
          ASSERT_NEAR(y[size_t(r * columns + j)], value, tolerance)
              << name(type) << " " << rows << "x" << columns << "x" << depth << " at " << r << ", " << j;
        }
      }
      ASSERT_EQ(y.back(), 7.0f) << "wrote behind C";
    }
  }
}

// Where x is whole numbers up to 127 in each group, nothing is rounded: only f32's sums are left.
TEST_P(BlockProduct, IsExactButForSumsWhereXIsWholeNumbers) {
  for (BlockType type : block_types) {
    const int64_t rows = 7, columns = 40, depth = 512;
    const Bytes w = random_blocks(type, columns * depth, 3);
    Floats numbers(size_t(columns * depth)), x(size_t(rows * depth));
    dequantise(type, w.data(), columns * depth, numbers.data());
    // Codes of 8 bits meet numbers whose neighbours' sizes add up to 126 at most, those of 4 bits numbers up to 127.
    const int most = form_of(type).bits == 4 ? 127 : 63;
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i % 32 == 4 || i % 32 == 5 ? most : int(i * 37) % (2 * most + 1) - most);
    Floats y(size_t(rows * columns));
    multiply(rows, {x.data(), depth, 1}, PackedWeight(type, w, depth, columns), {y.data(), columns});
    for (int64_t i = 0; i < rows * columns; ++i) {
      double value = 0, size = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const double term = double(x[size_t(i / columns * depth + k)]) * numbers[size_t(i % columns * depth + k)];
        value += term, size += std::abs(term);
      }
      ASSERT_NEAR(y[size_t(i)], value, 2e-6 * size) << name(type) << " at " << i;
    }
  }
}

TEST_P(BlockProduct, SameBitsForAnyNumberOfRowsAndThreadsAndAnyStrides) {
  const int64_t most = 101, columns = 200, depth = 768;
  const Floats x = random_floats(most * depth, 1);
  Floats across(x.size());
  for (int64_t i = 0; i < most * depth; ++i) across[size_t(i % depth * most + i / depth)] = x[size_t(i)];
  for (BlockType type : block_types) {
    const PackedWeight packed(type, random_blocks(type, columns * depth, 2), depth, columns);
    Floats reference(size_t(most * columns));
    set_threads(1);
    for (int64_t r = 0; r < most; ++r)
      multiply(1, {&x[size_t(r * depth)], depth, 1}, packed, {&reference[size_t(r * columns)], columns});
    for (int threads : {1, 3}) {
      set_threads(threads);
      for (int64_t rows : {2, 3, 4, 5, 8, 13, 101}) {
        for (const Matrix& a : {Matrix{x.data(), depth, 1}, Matrix{across.data(), 1, most}}) {
          Floats y(size_t(rows * columns));
          multiply(rows, a, packed, {y.data(), columns});
          ASSERT_TRUE(std::equal(y.begin(), y.end(), reference.begin()))
              << name(type) << ", " << rows << " rows, " << threads << " threads";
        }
      }
    }
  }
}

TEST_P(BlockProduct, BesideOthersAndWithAnEpilogueItIsTheSame) {
  const int64_t rows = 9, columns = 40, depth = 256;
  const Floats x = random_floats(rows * depth, 1), w = random_floats(columns * depth, 2);
  const Floats bias = random_floats(columns, 3), residual = random_floats(rows * columns, 4);
  const PackedWeight plain(Precision::f32, w, depth, columns);
  const PackedWeight a(BlockType::q4_K, random_blocks(BlockType::q4_K, columns * depth, 5), depth, columns);
  const PackedWeight b(BlockType::q6_K, random_blocks(BlockType::q6_K, columns * depth, 6), depth, columns);
  std::vector<Floats> together(3, residual), alone(3, residual);
  const Epilogue e = {
      .bias = bias.data(), .add = true, .activation = Activation::relu, .residual = {residual.data(), columns}};
  const PackedMatrix* matrices[] = {&static_cast<const PackedMatrix&>(plain), &static_cast<const PackedMatrix&>(a),
                                    &static_cast<const PackedMatrix&>(b)};
  std::vector<Product> products;
  for (size_t i = 0; i < 3; ++i) {
    products.push_back({*matrices[i], {together[i].data(), columns}, e});
    multiply(rows, {x.data(), depth, 1}, *matrices[i], {alone[i].data(), columns}, e);
  }
  multiply(rows, {x.data(), depth, 1}, products);
  EXPECT_EQ(together, alone);
  Floats sums(size_t(rows * columns));
  multiply(rows, {x.data(), depth, 1}, a, {sums.data(), columns});
  for (size_t i = 0; i < sums.size(); ++i) {
    const double argument = double(sums[i]) + residual[i] + bias[i % size_t(columns)];
    EXPECT_NEAR(alone[1][i], std::max(argument, 0.0) + residual[i], 1e-4);
  }
}

// The baseline has no fused multiply-add for the scales; all others, and their units, have the same bits.
TEST(BlockProducts, HaveTheSameBitsOnEveryInstructionSetButTheBaseline) {
  const int64_t rows = 37, columns = 50, depth = 768;
  const Floats x = random_floats(rows * depth, 1);
  for (BlockType type : block_types) {
    const PackedWeight w(type, random_blocks(type, columns * depth, 2), depth, columns);
    std::vector<std::vector<uint32_t>> results;
    for_each_simd(
        [&] {
          Floats y(size_t(rows * columns));
          multiply(rows, {x.data(), depth, 1}, w, {y.data(), columns});
          if (simd() != Simd::baseline) results.push_back(bits_of(y));
        },
        emulated_simds());
    for (const auto& result : results) EXPECT_EQ(result, results[0]) << name(type);
  }
}

TEST_P(BlockProduct, NaNAndInfinityStayInTheirRow) {
  const int64_t rows = 7, columns = 20, depth = 256;
  Floats x = random_floats(rows * depth, 1);
  x[size_t(3 * depth + 4)] = std::numeric_limits<float>::quiet_NaN();
  x[size_t(5 * depth + 200)] = -std::numeric_limits<float>::infinity();
  for (BlockType type : block_types) {
    Floats y(size_t(rows * columns));
    multiply(rows, {x.data(), depth, 1}, PackedWeight(type, random_blocks(type, columns * depth, 2), depth, columns),
             {y.data(), columns});
    for (int64_t i = 0; i < rows * columns; ++i)
      EXPECT_EQ(std::isnan(y[size_t(i)]), i / columns == 3 || i / columns == 5) << name(type);
  }
}

TEST(Blocks, AColumnOfAPanelIsWhatItsBlocksStandFor) {
  const int64_t columns = 37, depth = 512;
  for (BlockType type : block_types) {
    const Bytes w = random_blocks(type, columns * depth, 2);
    const PackedWeight packed(type, w, depth, columns);
    EXPECT_TRUE(is_finite(packed));
    Floats numbers(size_t(columns * depth)), column(size_t(depth + 1), 7.0f);
    dequantise(type, w.data(), columns * depth, numbers.data());
    for (int64_t j = 0; j < columns; ++j) {
      unpack_column(packed, j, column.data());
      for (int64_t k = 0; k < depth; ++k)
        ASSERT_EQ(std::bit_cast<uint32_t>(column[size_t(k)]), std::bit_cast<uint32_t>(numbers[size_t(j * depth + k)]))
            << name(type);
    }
    EXPECT_EQ(column.back(), 7.0f);
    EXPECT_LE(packed_bytes(type, depth, 64), 64 * depth * 9 / 8 + 64 * 4);
  }
}

TEST(Blocks, RefuseADepthThatIsNotInWholeBlocks) {
  for (BlockType type : block_types) {
    EXPECT_THROW(packed_bytes(type, block_of(type).numbers + 16, 4), Error) << name(type);
    float y = 0;
    EXPECT_THROW(multiply(1, {&y, 1, 1}, {Precision::f32, 33, 1, nullptr, type}, {&y, 1}), Error);
    EXPECT_THROW(dequantise(type, nullptr, 33, &y), Error);
  }
}

// What ggml's own search reaches on numbers like these, and a little more: relative to their root mean square.
TEST(Blocks, QuantisedNumbersAreNear) {
  const int64_t count = 256 * 200;
  const Floats x = random_floats(count, 1);
  const std::pair<BlockType, double> bounds[] = {{BlockType::q8_0, 0.0060},
                                                 {BlockType::q5_0, 0.0460},
                                                 {BlockType::q4_0, 0.0900},
                                                 {BlockType::q4_K, 0.0750},
                                                 {BlockType::q6_K, 0.0190}};
  for (const auto& [type, bound] : bounds) {
    Bytes blocks(static_cast<size_t>(count / block_of(type).numbers * block_of(type).bytes));
    quantise(type, x.data(), count, blocks.data());
    Floats y(x.size());
    dequantise(type, blocks.data(), count, y.data());
    double error = 0, size = 0;
    for (size_t i = 0; i < x.size(); ++i) error += std::pow(double(x[i]) - y[i], 2), size += std::pow(double(x[i]), 2);
    EXPECT_LT(std::sqrt(error / size), bound) << name(type);
  }
}

TEST(Blocks, QuantiseZerosConstantsAndRefuseWhatIsNotFinite) {
  for (BlockType type : {BlockType::q8_0, BlockType::q5_0, BlockType::q4_0, BlockType::q4_K, BlockType::q6_K}) {
    for (float constant : {0.0f, 1.5f, -0.25f}) {
      const Floats x(256, constant);
      Bytes blocks(static_cast<size_t>(256 / block_of(type).numbers * block_of(type).bytes));
      quantise(type, x.data(), 256, blocks.data());
      Floats y(256);
      dequantise(type, blocks.data(), 256, y.data());
      for (float value : y) EXPECT_NEAR(value, constant, 0.01f * std::fabs(constant)) << name(type);
    }
    Floats bad(256, 1.0f);
    bad[77] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(quantise(type, bad.data(), 256, nullptr), Error);
  }
  const Floats x(256);
  EXPECT_THROW(quantise(BlockType::q2_K, x.data(), 256, nullptr), Error);
}

}  // namespace
}  // namespace fovea::kernels
