#include "fovea/kernels/convert.h"

#include <bit>
#include <cmath>
#include <vector>

#include "fovea/base/denormals.h"
#include "fovea/base/half.h"
#include "fovea/kernels/every_simd.h"

namespace fovea::kernels {
namespace {

// Every number that half precision has, by its definition: (−1)^s · 2^(e − 15) · 1.f, or 2^−14 · 0.f.
TEST(Convert, FloatOfHalfIsItsValue) {
  std::vector<uint16_t> bits;
  for (int i = 0; i < 1 << 16; ++i) bits.push_back(static_cast<uint16_t>(i));
  bits.insert(bits.end(), {1, 2, 3});  // a rest of a vector
  for_each_simd([&] {
    std::vector<float> x(bits.size());
    float_of_half(static_cast<int64_t>(bits.size()), bits.data(), x.data());
    for (size_t i = 0; i < bits.size(); ++i) {
      const int exponent = bits[i] >> 10 & 31, fraction = bits[i] & 1023;
      if (exponent == 31 && fraction) {
        ASSERT_TRUE(std::isnan(x[i])) << bits[i];
        continue;
      }
      double value = exponent == 31  ? HUGE_VAL
                     : exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(1024 + fraction, exponent - 25);
      if (bits[i] & 0x8000) value = -value;
      ASSERT_EQ(std::bit_cast<uint32_t>(x[i]), std::bit_cast<uint32_t>(static_cast<float>(value))) << bits[i];
    }
  });
}

TEST(Convert, FindsWhatIsNotFinite) {
  for_each_simd([] {
    for (int64_t size : {1, 7, 16, 100}) {
      std::vector<float> x(static_cast<size_t>(size), 3e38f);
      EXPECT_TRUE(all_finite(size, x.data()));
      for (float odd : {NAN, HUGE_VALF, -HUGE_VALF}) {
        for (int64_t at : {int64_t{0}, size / 2, size - 1}) {
          const float before = std::exchange(x[static_cast<size_t>(at)], odd);
          EXPECT_FALSE(all_finite(size, x.data())) << size << " " << at;
          x[static_cast<size_t>(at)] = before;
        }
      }
    }
  });
}

TEST(Convert, HalvesAreExactWhereDenormalFloatsAreFlushed) {
  std::vector<uint16_t> halves;
  for (uint16_t i = 0; i < 2048; ++i) halves.push_back(i), halves.push_back(static_cast<uint16_t>(i | 0x8000));
  for_each_simd([&] {
    const FlushDenormals flush;
    std::vector<float> found(halves.size());
    float_of_half(static_cast<int64_t>(halves.size()), halves.data(), found.data());
    for (size_t i = 0; i < halves.size(); ++i) ASSERT_EQ(found[i], fovea::float_of_half(halves[i])) << halves[i];
  });
}

}  // namespace
}  // namespace fovea::kernels
