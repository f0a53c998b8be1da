#include "fovea/kernels/unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "emulated_units.h"
#include "fovea/base/error.h"
#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/amx.h"
#include "fovea/kernels/packed.h"
#include "fovea/kernels/peak.h"
#include "fovea/kernels/trial.h"

namespace fovea::kernels {
namespace {

using Floats = std::vector<float>;

Floats random_floats(int64_t count, uint64_t seed) {
  Random random(seed);
  Floats values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return values;
}

std::vector<uint32_t> bits_of(const Floats& x) {
  std::vector<uint32_t> bits;
  for (float value : x) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

struct alignas(64) Line {
  std::byte bytes[64];
};

struct Case {
  int64_t rows, columns, depth;
};

Floats product(Precision p, const Case& c, const Epilogue& e = {}) {
  const Floats x = random_floats(c.rows * c.depth, 1), w = random_floats(c.columns * c.depth, 2);
  std::vector<Line> packed(size_t(packed_bytes(p, c.depth, c.columns) / 64 + 1));
  pack(p, {w.data(), 1, c.depth}, c.depth, c.columns, packed[0].bytes);
  Floats y(size_t(c.rows * c.columns), 0.5f);
  multiply(c.rows, {x.data(), c.depth, 1}, {p, c.depth, c.columns, packed[0].bytes}, {y.data(), c.columns}, e);
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
    emulated_.emplace(GetParam().units);
    const std::vector<Simd> sets = supported_simds();
    if (std::find(sets.begin(), sets.end(), GetParam().simd) == sets.end()) GTEST_SKIP() << "this CPU does not have it";
    use_simd(GetParam().simd);
    if (unit_of(Precision::int8) == Unit::vectors) GTEST_SKIP() << "this CPU does not have it";
  }
  void TearDown() override {
    use_simd(before_);
    emulated_.reset();
    set_threads(0);
  }
  Simd before_ = simd();
  std::optional<EmulatedUnits> emulated_;
};
INSTANTIATE_TEST_SUITE_P(, EveryUnit,
                         testing::Values(Emulated{"amx", Simd::amx, {.tiles = true}},
                                         Emulated{"avx_vnni", Simd::avx2, {.avx_vnni = true}},
                                         Emulated{"avx512_vnni", Simd::avx512, {}}),
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
    std::vector<Line> packed(size_t(packed_bytes(Precision::int8, depth, columns) / 64 + 1));
    pack(Precision::int8, {w.data(), 1, depth}, depth, columns, packed[0].bytes);
    Floats y(static_cast<size_t>(columns));
    multiply(1, {x.data(), depth, 1}, {Precision::int8, depth, columns, packed[0].bytes}, {y.data(), columns});
    for (float value : y) EXPECT_EQ(value, sign * static_cast<float>(127 * 127 * depth));
  }
}

TEST_P(EveryUnit, HasAPeak) {
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
                      .a_stride = blocks * 64,
                      .b = b[0].bytes,
                      .blocks = blocks,
                      .out = reinterpret_cast<float*>(sums[0].bytes),
                      .out_stride = 16});
    }
    TileFile file;
    file.rows[0] = file.rows[1] = height, file.rows[2] = 16;
    for (int i = 0; i < 3; ++i) file.bytes[i] = 64;
    for (int64_t k = 0; k < blocks; ++k) {
      file.load(1, a[size_t(k)].bytes, blocks * 64), file.load(2, b[size_t(16 * k)].bytes, 64);
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
