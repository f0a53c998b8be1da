// One thread's part of a matrix product, as gemm.cpp cuts it and gemm_task-inl.h runs it.
//
// All precisions are products of 32-bit words. A panel of B is [groups][16] words; a word holds one number of a column (f32), two
// (bf16) or four (int8), and meets the words of A with as many numbers: one float, two floats, or one of four bytes. On tiles
// and dot products of bf16 (unit.h) a word of A is as one of B.
#pragma once

#include "fovea/kernels/packed.h"
#include "fovea/kernels/unit.h"

namespace fovea::kernels {

// The rows of A as blocks of GGUF meet them: whole numbers and their scales for each 32, with the sums of what they stand for.
struct RoundedBlocks {
  const int8_t* bytes = nullptr;  // [rows][depth], in order
  const float* scales = nullptr;  // [rows][depth / 32]
  const float* sums = nullptr;    // [rows][depth / 32]: scale · Σ numbers
  const float* halves = nullptr;  // [rows][depth / 16]: the same
  // Of those that meet codes of 8 bits, which are rounded as for int8: what the integer sums of each group lack.
  const int32_t* offsets = nullptr;       // [rows][depth / 32]
  const int32_t* half_offsets = nullptr;  // [rows][depth / 16]
};

// Rows as tiles read them (amx.h): [pairs of tiles][blocks of 64 bytes][tiles][height][64], for up to 16 rows one tile instead of pairs.
struct TileRows {
  int64_t tiles = 0, height = 0, blocks = 0;
  int64_t together() const { return tiles * height; }
  int64_t place(int64_t row) const {  // of the first block; the next ones follow together() · 64 bytes apart
    return row / together() * together() * blocks * 64 + row % together() * 64;
  }
};

// The rows of A as whole numbers for int8, and as bf16 for the units that multiply these: in order, and zeros to the end of 64 bytes.
struct RoundedRows {
  std::byte* bytes = nullptr;
  int64_t stride = 0;          // from row to row, in bytes
  TileRows tiles = {};         // how they stand instead, if at all
  float* scales = nullptr;     // int8
  int32_t* offsets = nullptr;  // int8: what the sums of each row lack
};

struct GemmTask {
  Precision precision;
  GemmShape shape;  // of the whole product, its depth in words of A
  Matrix a;
  const float* b;              // panels
  const float* row_scales;     // int8: what the integer sums are multiplied with, else nothing
  const float* column_scales;  // likewise
  Output c;
  Epilogue epilogue;
  int64_t row_begin = 0, row_end = 0, column_begin = 0, column_end = 0;  // columns in whole panels, but for the last
  const int32_t* row_offsets = nullptr;                                  // int8: what the sums of each row lack
  const PackedMatrix* blocks = nullptr;                                  // instead of b, and `rounded` instead of a
  RoundedBlocks rounded = {};
  Unit unit = Unit::vectors;
  TileRows tiles = {};  // where the unit is tiles: how A stands
};

// Numbers in a word of B.
inline int64_t numbers_of(Precision p) { return p == Precision::f32 ? 1 : p == Precision::bf16 ? 2 : 4; }

// Words of a row of A, and of a column of B.
inline int64_t words_of_b(Precision p, int64_t depth) { return (depth + numbers_of(p) - 1) / numbers_of(p); }
inline int64_t words_of_a(Precision p, int64_t depth) { return p == Precision::int8 ? words_of_b(p, depth) : depth; }

void check(const PackedMatrix&,
           const char* where);  // an Error for sizes below 0, or a depth whose sums need more than 32 bits
const float* scales_of(const PackedMatrix&);  // int8: of the columns, else nothing

}  // namespace fovea::kernels
