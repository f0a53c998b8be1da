// The blocks of GGUF files as ggml defines them, to floats and back.
//
//   dequantise(BlockType::q4_K, blocks, 512, x);        // 512 numbers from two blocks, the bits that ggml computes
//   quantise(BlockType::q4_K, x, 512, blocks);          // q8_0, q5_0, q4_0, q4_K, q6_K
//
//   w = scale · (code − offset) + min, with a scale and a min for each group of 16 or 32 numbers
//
// In blocks of 32 those are halves; in blocks of 256 a group's scale is d · a whole number, and its min is m · another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fovea/base/block_type.h"

namespace fovea::kernels {

void dequantise(BlockType, const std::byte* blocks, int64_t count, float* x);

// An Error for a type that is only read, and for numbers that are not finite.
void quantise(BlockType, const float* x, int64_t count, std::byte* blocks);

// How panels keep a type (block_panels.h): its codes in 4 bits as 0 … 15, or in 8 bits with their sign and without an offset.
struct BlockForm {
  int64_t group;   // numbers that share a scale
  int bits;        // of a code in a panel
  int offset = 0;  // what a code of 4 bits is too large by
  bool mins = false;
  bool nested = false;  // scales are d · a whole number
};

constexpr BlockForm form_of(BlockType t) {
  switch (t) {
    case BlockType::q8_0:
    case BlockType::q5_0:
      return {.group = 32, .bits = 8};
    case BlockType::q4_0:
      return {.group = 32, .bits = 4, .offset = 8};
    case BlockType::q4_1:
      return {.group = 32, .bits = 4, .mins = true};
    case BlockType::q5_1:
      return {.group = 32, .bits = 8, .mins = true};
    case BlockType::q2_K:
      return {.group = 16, .bits = 4, .mins = true, .nested = true};
    case BlockType::q3_K:
      return {.group = 16, .bits = 4, .offset = 4, .nested = true};
    case BlockType::q4_K:
      return {.group = 32, .bits = 4, .mins = true, .nested = true};
    case BlockType::q5_K:
      return {.group = 32, .bits = 8, .mins = true, .nested = true};
    case BlockType::q6_K:
      break;
  }
  return {.group = 16, .bits = 8, .nested = true};
}

// A block taken apart. Blocks of 256 take their mins away: their m has the other sign here.
struct BlockParts {
  int8_t codes[256];
  uint16_t d = 0, m = 0;        // halves
  int8_t scales[16], mins[16];  // of the groups, if nested
};
void take_apart(BlockType, const std::byte* block, BlockParts&);

}  // namespace fovea::kernels
