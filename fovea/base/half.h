// IEEE's binary16 as its bits, to a float and back. Subnormal numbers are exact in threads that flush those of floats, too.
//
//   float x = float_of_half(bits);   uint16_t nearest = half_of_float(x);
#pragma once

#include <bit>
#include <cstdint>

namespace fovea {

inline float float_of_half(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));
}

// Round to nearest, ties to even; a NaN stays a NaN.
inline uint16_t half_of_float(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // 65,520 and more round to infinity
  if (magnitude < 0x38800000) {  // below 2⁻¹⁴: adding 0.5 leaves the rounded subnormal in the low bits
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000));
  }
  return static_cast<uint16_t>(sign | (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13);
}

}  // namespace fovea
