// Products with a matrix that is packed once and read many times: y = x Wᵀ with W [outputs, inputs] in f32, bf16 or int8.
//
//   pack(Precision::int8, {w, 1, inputs}, inputs, outputs, memory);     // packed_bytes() of it, 64-byte aligned; B = Wᵀ
//   const PackedMatrix packed = {Precision::int8, inputs, outputs, memory};
//   multiply(rows, {x, inputs}, packed, {y, outputs}, {.bias = bias});
//
//   f32    panels [⌈columns / 16⌉][depth][16], as gemm.h has them; the same bits
//   bf16   panels [⌈columns / 16⌉][⌈depth / 2⌉][16][2]
//          on amx and avx512bf16 x is rounded to bf16, too, ties to even, and numbers below 2⁻¹²⁶ count as zeros; elsewhere x stays f32. Sums are f32
//   int8   panels [⌈columns / 16⌉][⌈depth / 4⌉][16][4], then a scale for each column, f32, and zeros to the end of a cache line
//          w ≈ scale · B with scale = max |w| / 127 of its column, B = round(w · (127 / max |w|)), ties to even
//          x ≈ sx · X with sx = m / 126 of its row, X = round(x · (126 / m)); m = max (|x0| + |x1|, |x2| + |x3| …)
//          y = (Σ X B) · sx · scale, from left to right, the sum an exact integer; NaN in a row or column that is not finite
//
//   blocks of a GGUF file: panels as block_panels.h has them; x is rounded as for int8 (by max |x| and 127 where codes have 4 bits), in groups of 32 with a scale sx each
//          y = Σ over groups of (Σ X code) · sx · scale + (Σ X) · sx · min, the inner sums exact integers, the outer one from left to right
//
// The layout is the same on every instruction set, so that a file may hold it. A row's bits depend on that row alone: not on the
// number of rows, of threads, or on what is multiplied beside it. The integer sums are equal on every instruction set.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "fovea/base/block_type.h"
#include "fovea/base/precision.h"
#include "fovea/kernels/gemm.h"

namespace fovea::kernels {

struct PackedMatrix {
  Precision precision = Precision::f32;
  int64_t depth = 0, columns = 0;
  const std::byte* data = nullptr;
  std::optional<BlockType> blocks = {};  // instead of the precision
};

// An int8 product is at most 133,144 deep, so that its sums fit into 32 bits: else an Error, here and below.
int64_t packed_bytes(Precision, int64_t depth, int64_t columns);
void pack(Precision, const Matrix& b, int64_t depth, int64_t columns, std::byte* packed);

// The same for `columns` of them from `first_column` on, a multiple of 16, which stand in b as 0, 1 …: a matrix may come in pieces.
void pack_columns(const PackedMatrix& whole, int64_t first_column, const Matrix& b, int64_t columns);

// The same for blocks: `rows` are all of W's, block by block as a file has them. An Error if the depth is no multiple of a block.
int64_t packed_bytes(BlockType, int64_t depth, int64_t columns);
void pack_blocks(const PackedMatrix& whole, const std::byte* rows);

void multiply(int64_t rows, const Matrix& a, const PackedMatrix& b, const Output& c, const Epilogue& = {});

// Several products of one a, such as queries, keys and values: a is rounded once and the threads share all of them.
struct Product {
  PackedMatrix b;
  Output c;
  Epilogue epilogue = {};
};
void multiply(int64_t rows, const Matrix& a, std::span<const Product>);

// Whether all its numbers are; of int8 and blocks their scales. A file may hold anything.
bool is_finite(const PackedMatrix&);

// Column `column` of B, `depth` numbers: a row of W, as embeddings need it.
void unpack_column(const PackedMatrix& b, int64_t column, float* to);

}  // namespace fovea::kernels
