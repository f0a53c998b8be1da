// What the numbers of a weight, or the keys and values of an attention, are kept as. Sums, and everything between modules, are f32 in
// all of them.
//
//   Precision p = parse_precision("int8");   name(p);
#pragma once

#include <string_view>

namespace fovea {

enum class Precision {
  f32,  // as they were trained: the bits of the training's forward pass
  bf16,  // half the bytes, 8 bits of mantissa; inputs are rounded alike on the instruction sets amx and avx512bf16, else f32
  f16,  // IEEE's halves, of keys and values alone, beside weights in blocks: products are f32
  int8,  // a quarter: whole numbers of −127 to 127 and a scale for each output; inputs are rounded row by row as they come
};

std::string_view name(Precision);
Precision parse_precision(std::string_view text);  // an Error for an unknown name

}  // namespace fovea
