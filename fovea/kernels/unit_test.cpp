#include "fovea/kernels/unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "emulated_units.h"
#include "fovea/base/error.h"
#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/amx.h"
#include "fovea/kernels/peak.h"
#include "fovea/kernels/product_testing.h"
#include "fovea/kernels/trial.h"

namespace fovea::kernels {
namespace {

struct alignas(64) Line {
  std::byte bytes[64];
};

struct Case {
  int64_t rows, columns, depth;
};

Floats product(Precision p, const Case& c, const Epilogue& e = {}) {
  const Floats x = random_floats(c.rows * c.depth, 1), w = random_floats(c.columns * c.depth, 2);
  Floats y(size_t(c.rows * c.columns), 0.5f);
  multiply(c.rows, {x.data(), c.depth, 1}, PackedWeight(p, w, c.depth, c.columns), {y.data(), c.columns}, e);
  return y;
}

// A set of instructions with the units that are emulated, if the CPU lacks them.
struct Emulated {
  const char* name;
  Simd simd;
  Units units;
};

class EveryUnit : public testing::TestWithParam<Emulated> {
 protected:
  void SetUp() override {
    const std::vector<Simd> sets = supported_simds();
    if (std::find(sets.begin(), sets.end(), GetParam().simd) == sets.end()) GTEST_SKIP() << "this CPU does not have it";
    use_simd(GetParam().simd);
    if (unit_of(Precision::int8) == Unit::vectors) GTEST_SKIP() << "this CPU does not have it";
  }
  void TearDown() override {
    use_simd(before_);
    set_threads(0);
  }
  EmulatedUnits emulated_{GetParam().units};
  Simd before_ = simd();
};
INSTANTIATE_TEST_SUITE_P(, EveryUnit,
                         testing::Values(Emulated{"amx", Simd::amx, {.tiles = true}},
                                         Emulated{"avx_vnni", Simd::avx2, {.avx_vnni = true}},
                                         Emulated{"avx512_vnni", Simd::avx512, {}},
                                         Emulated{"avx512_bf16", Simd::avx512_bf16, {}}),
                         [](const auto& i) { return std::string(i.param.name); });

TEST_P(EveryUnit, Int8HasTheBitsOfTheBaseline) {
  for (const Case& c : {Case{1, 1, 1},
                        {1, 100, 70},
                        {2, 33, 3},
                        {3, 50, 65},
                        {4, 17, 64},
                        {5, 130, 130},
                        {16, 31, 200},
                        {17, 48, 63},
                        {33, 64, 257},
                        {100, 40, 40}}) {
    const Floats bias = random_floats(c.columns, 3), residual = random_floats(c.rows * c.columns, 4);
    for (bool add : {false, true}) {
      const Epilogue e = {
          .bias = bias.data(), .add = add, .activation = Activation::relu, .residual = {residual.data(), c.columns}};
      for (int threads : {1, 2}) {
        set_threads(threads);
        use_simd(GetParam().simd);
        const Floats found = product(Precision::int8, c, e);
        use_simd(Simd::baseline);
        EXPECT_EQ(bits_of(found), bits_of(product(Precision::int8, c, e)))
            << c.rows << "x" << c.columns << "x" << c.depth << ", " << threads << " threads";
      }
    }
  }
}

// Whole numbers at their limits: a sum of the dot products is 128 · 127 too large for each number before it is put right.
TEST_P(EveryUnit, Int8IsExactAtItsLimits) {
  const int64_t depth = 20000, columns = 17;
  for (float sign : {1.0f, -1.0f}) {
    const Floats x(size_t(depth), 127.0f), w(size_t(depth * columns), sign * 127);
    Floats y(static_cast<size_t>(columns));
    multiply(1, {x.data(), depth, 1}, PackedWeight(Precision::int8, w, depth, columns), {y.data(), columns});
    for (float value : y) EXPECT_EQ(value, sign * static_cast<float>(127 * 127 * depth));
  }
}

TEST_P(EveryUnit, HasAPeakAndAName) {
  EXPECT_NE(name_of_unit(Precision::int8), "vectors");
  EXPECT_EQ(name_of_unit(Precision::f32), "vectors");
  EXPECT_GT(int8_burst(1), 0);
  EXPECT_GT(bf16_burst(1), 0);
  EXPECT_EQ(int8_burst(3), 3 * int8_burst(1));
}

// What the manual says of the instruction, block after block, is what the product does: on emulated tiles, and on real ones.
TEST(Tiles, EqualTheirEmulator) {
  const EmulatedUnits emulated({.tiles = true});
  if (!units().tiles) GTEST_SKIP() << "nothing here emulates tiles";
  const int64_t blocks = 5, height = 11;
  Random random(1);
  for (const bool whole_numbers : {false, true}) {
    std::vector<Line> a(size_t(height * blocks)), b(size_t(16 * blocks)), sums(static_cast<size_t>(height)),
        expected(sums);
    uint64_t n = 0;
    for (std::vector<Line>* lines : {&a, &b}) {
      for (Line& line : *lines) {
        for (int i = 0; i < 64; ++i) line.bytes[i] = static_cast<std::byte>(random.word(n++) & 255);
        for (int i = 1; i < 64 && !whole_numbers;
             i += 2) {  // bf16 of any size and sign, also tiny ones, but none that is not finite
          const int exponent =
              static_cast<int>(random.word(n++) % 9) == 0 ? 0 : 50 + static_cast<int>(random.word(n++) % 20);
          line.bytes[i] = static_cast<std::byte>(std::to_integer<int>(line.bytes[i] & std::byte{0x80}) | exponent);
        }
      }
    }
    {
      const TileSession session(1, static_cast<int>(height));
      multiply_tiles({.whole_numbers = whole_numbers,
                      .row_tiles = 1,
                      .height = height,
                      .a = a[0].bytes,
                      .b = b[0].bytes,
                      .blocks = blocks,
                      .out = reinterpret_cast<float*>(sums[0].bytes)});
    }
    TileFile file;
    file.rows[0] = file.rows[1] = height, file.rows[2] = 16;
    for (int i = 0; i < 3; ++i) file.bytes[i] = 64;
    for (int64_t k = 0; k < blocks; ++k) {
      file.load(1, a[size_t(height * k)].bytes, 64), file.load(2, b[size_t(16 * k)].bytes, 64);
      ASSERT_TRUE(whole_numbers ? file.add_int8(0, 1, 2) : file.add_bf16(0, 1, 2));
    }
    file.store(0, expected[0].bytes, 64);
    EXPECT_EQ(std::memcmp(sums.data(), expected.data(), sums.size() * 64), 0) << whole_numbers;
  }
}

TEST(Tiles, AreRightInTheirTrial) {
  const EmulatedUnits emulated({.tiles = true});
  if (!units().tiles) GTEST_SKIP() << "nothing here emulates tiles";
  EXPECT_TRUE(amx_is_right());
}

// A CPU that only claims to have tiles raises SIGILL: the trial says no, and the handler from before is back.
TEST(Tiles, AnIllegalInstructionEndsTheTrialAlone) {
  if (units().tiles) GTEST_SKIP() << "this CPU has tiles";
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(runs(amx_is_right));
  EXPECT_TRUE(runs([] { return true; }));
  EXPECT_FALSE(runs([] { return false; }));
  EXPECT_DEATH(amx_is_right(), "");
}

// Two products of bf16 are added to a sum in one instruction; a sum of small whole numbers is exact in any order.
TEST(Bf16DotProducts, AreAnInstructionSetOfTheirOwn) {
  const std::vector<Simd> sets = supported_simds();
  if (std::find(sets.begin(), sets.end(), Simd::avx512_bf16) == sets.end())
    GTEST_SKIP() << "this CPU or build has no AVX-512 BF16, and nothing here emulates it";
  const Simd before = simd();
  use_simd(Simd::avx512_bf16);
  EXPECT_EQ(simd(), parse_simd("avx512bf16"));
  EXPECT_EQ(unit_of(Precision::bf16), Unit::dot_products);
  EXPECT_EQ(name_of_unit(Precision::bf16), "AVX-512 BF16");
  const Floats f32 = product(Precision::f32, {20, 40, 100}), int8 = product(Precision::int8, {20, 40, 100});
  const int64_t rows = 29, columns = 50, depth = 301;
  Floats x(size_t(rows * depth)), w(size_t(columns * depth)), y(size_t(rows * columns));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(int(i * 37) % 255 - 127);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(int(i * 23) % 127 - 63);
  multiply(rows, {x.data(), depth, 1}, PackedWeight(Precision::bf16, w, depth, columns), {y.data(), columns});
  for (int64_t i = 0; i < rows * columns; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += double(x[size_t(i / columns * depth + k)]) * w[size_t(i % columns * depth + k)];
    ASSERT_EQ(y[size_t(i)], sum);
  }
  use_simd(Simd::avx512);
  EXPECT_EQ(unit_of(Precision::bf16), Unit::vectors);
  EXPECT_EQ(bits_of(f32), bits_of(product(Precision::f32, {20, 40, 100})));
  EXPECT_EQ(bits_of(int8), bits_of(product(Precision::int8, {20, 40, 100})));
  use_simd(before);
}

TEST(Tiles, AreAnInstructionSetOfTheirOwn) {
  const Simd before = simd();
  {
    const EmulatedUnits emulated({.tiles = true});
    if (!units().tiles) GTEST_SKIP() << "nothing here emulates tiles";
    use_simd(Simd::amx);
    EXPECT_EQ(simd(), Simd::amx);
    EXPECT_EQ(unit_of(Precision::bf16), Unit::tiles);
    EXPECT_EQ(unit_of(Precision::f32), Unit::vectors);
    const Floats f32 = product(Precision::f32, {20, 40, 100});
    use_simd(supported_simds()[supported_simds().size() - 2]);
    EXPECT_NE(unit_of(Precision::int8), Unit::tiles);
    EXPECT_EQ(bits_of(f32), bits_of(product(Precision::f32, {20, 40, 100})));
    use_simd(before);
  }
  if (!units().tiles) {
    EXPECT_THROW(use_simd(Simd::amx), Error);
  }
  EXPECT_EQ(parse_simd("amx"), Simd::amx);
}

}  // namespace
}  // namespace fovea::kernels
