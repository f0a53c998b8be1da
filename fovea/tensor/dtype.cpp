#include "fovea/tensor/dtype.h"

#include <bit>

namespace fovea {

size_t size_of(DType type) {
  switch (type) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::i8:
      break;
  }
  return 1;
}

std::string_view name(DType type) {
  switch (type) {
    case DType::f32:
      return "F32";
    case DType::f64:
      return "F64";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::i8:
      return "I8";
    case DType::i64:
      break;
  }
  return "I64";
}

float to_float(BFloat16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

BFloat16 to_bfloat16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

float to_float(Float16 x) {
  uint32_t sign = uint32_t{x.bits & 0x8000u} << 16, magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // As bits of a float the exponent is 112 too small; a multiplication by 2¹¹² corrects it for subnormal numbers too.
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f));
}

Float16 to_float16(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // 65,520 and more round to infinity
  if (magnitude < 0x38800000) {  // below 2⁻¹⁴: adding 0.5 leaves the rounded subnormal in the low bits
    return {
        static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000))};
  }
  return {static_cast<uint16_t>(sign | (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13)};
}

}  // namespace fovea
