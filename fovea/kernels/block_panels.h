// Blocks as the products read them: panels of 16 columns of B = Wᵀ, each with its codes first and their scales behind.
//
//   const BlockPanel p = panel_of(matrix, column / 16);          // where the parts of one panel stand
//
//   codes    8 bits: [depth / 4][16][4];  4 bits: [depth / 8][16][4], the lower half the first four numbers, the upper the next four
//   d, m     halves [depth / 256][16], or [depth / group][16] if not nested; m where there are mins
//   scales, mins    whole numbers [depth / group][16], if nested; mins where there are
//   and zeros to the end of a cache line
#pragma once

#include "fovea/kernels/blocks.h"
#include "fovea/kernels/packed.h"

namespace fovea::kernels {

struct BlockPanel {
  const std::byte* codes;
  const uint16_t *d, *m;
  const int8_t *scales, *mins;
};

int64_t panel_bytes(BlockType, int64_t depth);
BlockPanel panel_of(const PackedMatrix&, int64_t panel);

bool blocks_are_finite(const PackedMatrix&);
void unpack_block_column(const PackedMatrix&, int64_t column, float* to);

}  // namespace fovea::kernels
