#include "fovea/tensor/dtype.h"

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

}  // namespace fovea
