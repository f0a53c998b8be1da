// How a tensor's elements are stored. Arithmetic runs in f32, and in f64 so that every formula can be checked; f16,
// bf16 and i8 are storage for weights, i8 also for masks, i64 for indices.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fovea/base/half.h"

namespace fovea {

enum class DType { f32, f64, f16, bf16, i8, i64 };

size_t size_of(DType);
std::string_view name(DType);  // as safetensors spells it: "F32", "BF16", …

// Half-precision numbers as their bits.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

inline float to_float(BFloat16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

// Round to nearest, ties to even; a NaN stays a NaN.
inline BFloat16 to_bfloat16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline float to_float(Float16 x) { return float_of_half(x.bits); }
inline Float16 to_float16(float x) { return {half_of_float(x)}; }

template <class T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "no tensor holds this type");
  return DType::f32;
}();
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<Float16> = DType::f16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<int64_t> = DType::i64;

// Calls f with a null pointer of the C++ type that stands for `type`:
//   with_type(x.dtype(), [&](auto* of) { using T = std::remove_pointer_t<decltype(of)>; … x.data<T>() … });
template <class F>
void with_type(DType type, F&& f) {
  switch (type) {
    case DType::f32:
      return f(static_cast<float*>(nullptr));
    case DType::f64:
      return f(static_cast<double*>(nullptr));
    case DType::f16:
      return f(static_cast<Float16*>(nullptr));
    case DType::bf16:
      return f(static_cast<BFloat16*>(nullptr));
    case DType::i8:
      return f(static_cast<int8_t*>(nullptr));
    case DType::i64:
      return f(static_cast<int64_t*>(nullptr));
  }
}

}  // namespace fovea
