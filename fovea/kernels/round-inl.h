// Numbers rounded to −127 … 127 for one instruction set: x ≈ scale · X with X = round(x · (127 / max |x|)), ties to even.
//
//   const Rounding r = rounding_of(x, depth);           // r.scale is NaN where x has a NaN or an infinity
//   round_to_pairs(x, depth, r, words);                 // as int16 in the order that Int8 of tile-inl.h reads
#if defined(FOVEA_KERNELS_ROUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ROUND_INL_H_
#undef FOVEA_KERNELS_ROUND_INL_H_
#else
#define FOVEA_KERNELS_ROUND_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct Rounding {
  float scale, inverse;  // an inverse of 0 makes zeros
};

// The bits of |x| are ordered as the numbers are, and those of infinities and NaNs come last.
inline Rounding rounding_of(const float* x, int64_t count) {
  uint32_t most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu);
  const float largest = std::bit_cast<float>(most);
  if (most >= 0x7f800000u) return {std::numeric_limits<float>::quiet_NaN(), 0};
  if (largest < 1e-30f) return {0, 0};  // 127 / largest might be infinite
  return {largest / 127, 127 / largest};
}

// Adding 1.5 · 2²³ leaves the rounded number in the lower bits, the same on every instruction set.
HWY_INLINE int32_t rounded(float x, float inverse) {
  return std::bit_cast<int32_t>(x * inverse + 12582912.0f) - 0x4b400000;
}

// Fours of x become pairs (x0, x2), (x1, x3); the last four is filled with zeros.
inline void round_to_pairs(const float* x, int64_t count, const Rounding& r, int16_t* to) {
  const int64_t all = (count + 3) / 4 * 4;
  if (r.inverse == 0) {
    std::fill_n(to, all, int16_t{0});
    return;
  }
  const int64_t whole = count / 4 * 4;
  for (int64_t i = 0; i < whole; i += 4) {
    to[i] = static_cast<int16_t>(rounded(x[i], r.inverse));
    to[i + 1] = static_cast<int16_t>(rounded(x[i + 2], r.inverse));
    to[i + 2] = static_cast<int16_t>(rounded(x[i + 1], r.inverse));
    to[i + 3] = static_cast<int16_t>(rounded(x[i + 3], r.inverse));
  }
  if (whole == count) return;
  float last[4] = {};
  std::copy(x + whole, x + count, last);
  for (int64_t j = 0; j < 4; ++j) to[whole + j] = static_cast<int16_t>(rounded(last[j % 2 * 2 + j / 2], r.inverse));
}

// The same in order, as bytes.
inline void round_to_bytes(const float* x, int64_t count, const Rounding& r, int8_t* to) {
  const int64_t all = (count + 3) / 4 * 4;
  std::fill_n(to, all, int8_t{0});
  if (r.inverse == 0) return;
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int8_t>(rounded(x[i], r.inverse));
}

// To bf16, ties to even; a NaN stays one. An odd count is filled with a zero.
inline void round_to_bf16(const float* x, int64_t count, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]);
    const uint32_t up = bits + 0x7fffu + (bits >> 16 & 1u);
    const auto half = static_cast<uint16_t>(((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : up) >> 16);
    std::memcpy(to + 2 * i, &half, 2);
  }
  if (count % 2) std::memset(to + 2 * count, 0, 2);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
