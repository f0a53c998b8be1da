#include "fovea/base/precision.h"

#include "fovea/base/catalogue.h"

namespace fovea {

std::string_view name(Precision p) {
  switch (p) {
    case Precision::bf16:
      return "bf16";
    case Precision::f16:
      return "f16";
    case Precision::int8:
      return "int8";
    case Precision::f32:
      break;
  }
  return "f32";
}

Precision parse_precision(std::string_view text) {
  for (Precision p : {Precision::f32, Precision::bf16, Precision::int8})
    if (name(p) == text) return p;
  throw_unknown("precision", text, {"f32", "bf16", "int8"});
}

}  // namespace fovea
