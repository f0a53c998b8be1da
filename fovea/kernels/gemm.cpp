#include "fovea/kernels/gemm.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/block_tiles-inl.h"
#include "fovea/kernels/gemm_task-inl.h"
#include "fovea/kernels/round-inl.h"
#include "fovea/kernels/unit_task-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// A rounded row, `to.stride` bytes of it, to where it stands.
void place_row(const std::byte* bytes, int64_t row, const RoundedRows& to) {
  const TileRows& tiles = to.tiles;
  if (tiles.blocks == 0) return std::copy_n(bytes, to.stride, to.bytes + row * to.stride), void();
  for (int64_t k = 0; k < tiles.blocks; ++k)
    std::memcpy(to.bytes + tiles.place(row) + k * tiles.together() * 64, bytes + k * 64, 64);
}

// Rows [begin, end) as bf16, of a matrix that lies column by column: pairs of columns become words for 16 rows at a time, and these
// are turned.
void round_columns(const Matrix& a, int64_t depth, int64_t begin, int64_t end, const RoundedRows& to) {
  const int64_t words = words_of_b(Precision::bf16, depth), whole = words / 4 * 4, stride = to.stride / 4;
  Scratch scratch;
  float* columns = scratch.take<float>((words + 1) * panel_width);
  float* rows = scratch.take<float>(panel_width * stride);
  std::fill(rows, rows + panel_width * stride, 0.0f);
  for (int64_t r = begin; r < end; r += panel_width) {
    const int64_t count = HWY_MIN(panel_width, end - r);
    for (int64_t k = 0; k < words; ++k) {
      const float* from = a.data + r + 2 * k * a.column_stride;
      round_pair_to_bf16(from, 2 * k + 1 < depth ? from + a.column_stride : nullptr, count, columns + k * panel_width);
    }
    for (int64_t i = 0; i < count; i += 4) {
      for (int64_t k = 0; k < whole; k += 4)
        transpose_four(columns + k * panel_width + i, panel_width, rows + i * stride + k, stride);
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t k = whole; k < words; ++k) rows[i * stride + k] = columns[k * panel_width + i];
      place_row(reinterpret_cast<const std::byte*>(rows + i * stride), r + i, to);
    }
  }
}

void round_rows(Precision precision, const Matrix& a, int64_t depth, int64_t begin, int64_t end,
                const RoundedRows& to) {
  if (precision == Precision::bf16 && a.row_stride == 1) return round_columns(a, depth, begin, end, to);
  Scratch scratch;
  float* contiguous = a.column_stride == 1 ? nullptr : scratch.take<float>(depth);
  std::byte* blocks = to.tiles.tiles ? scratch.take<std::byte>(to.stride) : nullptr;
  for (int64_t r = begin; r < end; ++r) {
    const float* row = a.data + r * a.row_stride;
    if (contiguous) {
      for (int64_t k = 0; k < depth; ++k) contiguous[k] = row[k * a.column_stride];
      row = contiguous;
    }
    std::byte* bytes = blocks ? blocks : to.bytes + r * to.stride;
    std::fill(bytes + depth * 4 / numbers_of(precision) / 4 * 4, bytes + to.stride, std::byte{0});
    if (precision == Precision::bf16) {
      round_to_bf16(row, depth, bytes);
    } else {
      const Rounding rounding = rounding_of_pairs(row, depth);
      const int32_t sum = round_and_add(row, depth, rounding, reinterpret_cast<int8_t*>(bytes));
      to.scales[r] = rounding.scale, to.offsets[r] = blocks ? 0 : Int8::offset_of(sum);
    }
    if (blocks) place_row(bytes, r, to);
  }
}

// One row in groups of 32, for blocks.
void round_block_row(const float* x, int64_t depth, int64_t row, const RoundedBlocks& to) {
  for (int64_t k = 0; k < depth; k += 32) {
    const int64_t at = row * depth + k;
    int8_t* bytes = const_cast<int8_t*>(to.bytes) + at;
    const Rounding r = to.offsets ? rounding_of_pairs(x + k, 32) : rounding_of(x + k, 32);
    const int32_t sums[] = {round_and_add(x + k, 16, r, bytes), round_and_add(x + k + 16, 16, r, bytes + 16)};
    const_cast<float*>(to.scales)[at / 32] = r.scale;
    const_cast<float*>(to.sums)[at / 32] = r.scale * static_cast<float>(sums[0] + sums[1]);
    for (int64_t i = 0; i < 2; ++i) const_cast<float*>(to.halves)[at / 16 + i] = r.scale * static_cast<float>(sums[i]);
    if (!to.offsets) continue;
    const_cast<int32_t*>(to.offsets)[at / 32] = Int8::offset_of(sums[0] + sums[1]);
    for (int64_t i = 0; i < 2; ++i) const_cast<int32_t*>(to.half_offsets)[at / 16 + i] = Int8::offset_of(sums[i]);
  }
}

void round_block_rows(const Matrix& a, int64_t depth, int64_t begin, int64_t end, const RoundedBlocks& to) {
  Scratch scratch;
  float* contiguous = a.column_stride == 1 ? nullptr : scratch.take<float>(depth);
  for (int64_t r = begin; r < end; ++r) {
    const float* row = a.data + r * a.row_stride;
    if (contiguous) {
      for (int64_t k = 0; k < depth; ++k) contiguous[k] = row[k * a.column_stride];
      row = contiguous;
    }
    round_block_row(row, depth, r, to);
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(rows_of_tile);
HWY_EXPORT(rows_of_task);
HWY_EXPORT(run_task);
HWY_EXPORT(round_rows);
HWY_EXPORT(run_block_task);
HWY_EXPORT(round_block_rows);
HWY_EXPORT(run_tile_task);

// How a product is cut into tasks. It changes which thread computes an element, never how.
struct Grid {
  int64_t rows = 1, columns = 1;  // numbers of pieces
};

int64_t row_blocks(const GemmShape& s) {
  const int64_t most = HWY_DYNAMIC_DISPATCH(rows_of_task)();
  return (s.rows + most - 1) / most;
}

// Tasks of tiles share A, of which each has as many rows as stay in the second-level cache, and divide the columns.
Grid cut_for_tiles(const GemmTask& task, int64_t wanted) {
  constexpr int64_t near = 1 << 20;  // bytes
  const TileRows& t = task.tiles;
  const int64_t bytes = (task.shape.rows + t.together() - 1) / t.together() * t.together() * t.blocks * 64;
  Grid grid = {.rows = std::max<int64_t>(1, (bytes + near - 1) / near)};
  const int64_t pairs = (task.shape.columns + 2 * panel_width - 1) / (2 * panel_width);
  grid.columns = std::clamp<int64_t>((wanted + grid.rows - 1) / grid.rows, 1, std::max<int64_t>(pairs, 1));
  return grid;
}

Grid cut(const GemmTask& task) {
  constexpr double worth_a_thread = 1e5;  // multiply-adds
  const GemmShape& s = task.shape;
  const int64_t passes = task.unit == Unit::tiles ? (s.rows + 15) / 16 : s.rows;  // over B
  const double work = static_cast<double>(passes) * static_cast<double>(s.columns) * static_cast<double>(s.depth);
  const int64_t threads = fovea::threads(), panels = (s.columns + panel_width - 1) / panel_width;
  const int64_t tiles = (s.rows + HWY_DYNAMIC_DISPATCH(rows_of_tile)() - 1) / HWY_DYNAMIC_DISPATCH(rows_of_tile)();
  Grid grid;
  grid.rows = row_blocks(s);
  const bool alone = threads == 1 || work < 2 * worth_a_thread;
  const int64_t wanted = alone ? 1 : std::min<int64_t>(threads * 2, static_cast<int64_t>(work / worth_a_thread));
  if (task.tiles.tiles) return cut_for_tiles(task, wanted);
  if (alone) return grid;
  if (tiles >= 4 * wanted) {
    grid.rows = (std::max(grid.rows, wanted) + threads - 1) / threads * threads;
  } else {
    grid.columns = std::clamp<int64_t>((wanted + grid.rows - 1) / grid.rows, 1, (panels + 1) / 2);
  }
  return grid;
}

TileRows tile_rows_of(int64_t rows, int64_t bytes) {
  if (rows <= 16) return {.tiles = 1, .height = std::max<int64_t>(rows, 1), .blocks = bytes / 64};
  const int64_t pairs = (rows + 31) / 32;
  return {.tiles = 2, .height = (rows + 2 * pairs - 1) / (2 * pairs), .blocks = bytes / 64};
}

RoundedRows rounded_rows(Precision precision, int64_t rows, const Matrix& a, int64_t depth, Scratch& scratch) {
  constexpr int64_t line = 64;  // bytes
  RoundedRows to;
  to.stride = (4 * words_of_b(precision, depth) + line - 1) / line * line;
  int64_t all = rows;
  if (unit_of(precision) == Unit::tiles) {
    to.tiles = tile_rows_of(rows, to.stride);
    all = (rows + to.tiles.together() - 1) / to.tiles.together() * to.tiles.together();
  } else if (to.stride % 2048 == 0) {
    to.stride += line;  // rows that far apart compete for the same cache sets
  }
  to.bytes = scratch.take<std::byte>(all * to.stride);
  if (all > rows) {
    std::byte* last = to.bytes + (all - to.tiles.together()) * to.stride;
    std::fill(last, to.bytes + all * to.stride, std::byte{0});
  }
  to.scales = scratch.take<float>(rows), to.offsets = scratch.take<int32_t>(rows);
  parallel_ranges(rows, 16384 / (depth + 1) + 1, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(round_rows)(precision, a, depth, begin, end, to);
  });
  return to;
}

bool is_wide(const PackedMatrix& b) { return b.blocks && form_of(*b.blocks).bits != 4; }

RoundedBlocks rounded_blocks(int64_t rows, const Matrix& a, int64_t depth, bool wide, Scratch& scratch) {
  RoundedBlocks to = {.bytes = scratch.take<int8_t>((rows + 15) * depth),  // tiles read rows behind the last
                      .scales = scratch.take<float>(rows * depth / 32),
                      .sums = scratch.take<float>(rows * depth / 32),
                      .halves = scratch.take<float>(rows * depth / 16)};
  if (wide) to.offsets = scratch.take<int32_t>(rows * depth / 32);
  if (wide) to.half_offsets = scratch.take<int32_t>(rows * depth / 16);
  parallel_ranges(rows, 16384 / (depth + 1) + 1, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(round_block_rows)(a, depth, begin, end, to);
  });
  return to;
}

// The rows of A as each kind of matrix meets them: int8, and blocks with codes of 4 and of 8 bits.
struct RowsOfA {
  Matrix a;
  RoundedRows rounded = {};
  RoundedRows bf16 = {};  // on a unit
  RoundedBlocks small = {}, wide = {};
};

RowsOfA rows_of(int64_t rows, const Matrix& a, std::span<const Product> products, Scratch& scratch) {
  RowsOfA all = {a};
  for (const Product& p : products) {
    const int64_t depth = p.b.depth;
    if (is_wide(p.b) && !all.wide.bytes) all.wide = rounded_blocks(rows, a, depth, true, scratch);
    if (p.b.blocks && !is_wide(p.b) && !all.small.bytes) all.small = rounded_blocks(rows, a, depth, false, scratch);
    if (p.b.blocks) continue;
    if (p.b.precision == Precision::int8 && !all.rounded.bytes)
      all.rounded = rounded_rows(Precision::int8, rows, a, depth, scratch);
    if (p.b.precision == Precision::bf16 && unit_of(Precision::bf16) != Unit::vectors && !all.bf16.bytes)
      all.bf16 = rounded_rows(Precision::bf16, rows, a, depth, scratch);
  }
  return all;
}

// A whole product as one task, yet to be cut.
GemmTask task_of(int64_t rows, const RowsOfA& of, const Product& p) {
  const auto& [a, rounded, bf16, small, wide] = of;
  const PackedMatrix& b = p.b;
  if (b.blocks) {
    GemmTask task = {Precision::f32, {rows, b.columns, b.depth}, a, nullptr, nullptr, nullptr, p.c, p.epilogue};
    task.blocks = &b, task.rounded = is_wide(b) ? wide : small, task.unit = unit_of_blocks(rows);
    return task;
  }
  GemmTask task = {b.precision, {rows, b.columns, words_of_a(b.precision, b.depth)}, a, nullptr, nullptr, nullptr, p.c,
                   p.epilogue};
  task.b = reinterpret_cast<const float*>(b.data);
  const RoundedRows& numbers = b.precision == Precision::int8 ? rounded : bf16;
  if (b.precision == Precision::f32 || !numbers.bytes) return task;
  task.unit = unit_of(b.precision), task.shape.depth = words_of_b(b.precision, b.depth);
  task.a = {reinterpret_cast<const float*>(numbers.bytes), numbers.stride / 4, 1}, task.tiles = numbers.tiles;
  if (b.precision == Precision::bf16) return task;
  task.row_scales = numbers.scales, task.row_offsets = numbers.offsets, task.column_scales = scales_of(b);
  return task;
}

void run_piece(GemmTask task, const Grid& grid, int64_t i) {
  const GemmShape& s = task.shape;
  const int64_t row = i / grid.columns, column = i % grid.columns;
  const int64_t pairs = (s.columns + 2 * panel_width - 1) / (2 * panel_width);
  const int64_t together = task.tiles.tiles ? task.tiles.together() : 1;  // rows that are not cut apart
  const int64_t groups = (s.rows + together - 1) / together;
  task.row_begin = groups * row / grid.rows * together;
  task.row_end = std::min(s.rows, groups * (row + 1) / grid.rows * together);
  task.column_begin = pairs * column / grid.columns * 2 * panel_width;
  task.column_end = std::min(s.columns, pairs * (column + 1) / grid.columns * 2 * panel_width);
  if (task.row_begin >= task.row_end || task.column_begin >= task.column_end) return;
  if (task.blocks) return HWY_DYNAMIC_DISPATCH(run_block_task)(task);
  if (task.unit == Unit::tiles) return HWY_DYNAMIC_DISPATCH(run_tile_task)(task);
  HWY_DYNAMIC_DISPATCH(run_task)(task);
}

Product product_of(const GemmShape& s, const float* packed, const Output& c, const Epilogue& epilogue) {
  return {{Precision::f32, s.depth, s.columns, reinterpret_cast<const std::byte*>(packed)}, c, epilogue};
}

void check(int64_t rows, int64_t depth, const PackedMatrix& b) {
  check(b, "gemm");
  require(rows >= 0, "gemm: found {} rows, expected none below 0", rows);
  require(b.depth == depth, "gemm: found matrices of depth {} and {} with one a, expected the same", depth, b.depth);
}

}  // namespace

void multiply(int64_t rows, const Matrix& a, std::span<const Product> products) {
  if (products.empty()) return;
  const int64_t depth = products[0].b.depth;
  for (const Product& p : products) check(rows, depth, p.b);
  Scratch scratch;
  const RowsOfA all = rows_of(rows, a, products, scratch);
  Grid* grids = scratch.take<Grid>(static_cast<int64_t>(products.size()));
  int64_t pieces = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    grids[i] = cut(task_of(rows, all, products[i]));
    pieces += grids[i].rows * grids[i].columns;
  }
  parallel_for(pieces, [&](int64_t piece) {
    size_t i = 0;
    for (; piece >= grids[i].rows * grids[i].columns; ++i) piece -= grids[i].rows * grids[i].columns;
    run_piece(task_of(rows, all, products[i]), grids[i], piece);
  });
}

void multiply(int64_t rows, const Matrix& a, const PackedMatrix& b, const Output& c, const Epilogue& epilogue) {
  const Product product = {b, c, epilogue};
  multiply(rows, a, {&product, 1});
}

void gemm(const GemmShape& s, const Matrix& a, const float* packed, const Output& c, const Epilogue& epilogue) {
  const Product product = product_of(s, packed, c, epilogue);
  multiply(s.rows, a, {&product, 1});
}

void gemm_here(const GemmShape& s, const Matrix& a, const float* packed, const Output& c, const Epilogue& epilogue) {
  const Product product = product_of(s, packed, c, epilogue);
  check(s.rows, s.depth, product.b);
  const GemmTask task = task_of(s.rows, {a}, product);
  const Grid grid = {.rows = row_blocks(s)};
  for (int64_t i = 0; i < grid.rows; ++i) run_piece(task, grid, i);
}

void gemm(const GemmShape& s, const Matrix& a, const Matrix& b, const Output& c, const Epilogue& epilogue,
          Precision precision) {
  check(s.rows, s.depth, {precision, s.depth, s.columns});
  Scratch scratch;
  std::byte* packed = scratch.take<std::byte>(packed_bytes(precision, s.depth, s.columns));
  pack(precision, b, s.depth, s.columns, packed);
  multiply(s.rows, a, {precision, s.depth, s.columns, packed}, c, epilogue);
}

void batched_gemm(int64_t count, const GemmShape& s, const Matrix& a, const Matrix& b, const Output& c,
                  const BatchStrides& strides, bool add) {
  check(s.rows, s.depth, {Precision::f32, s.depth, s.columns});
  if (count == 1) return gemm(s, a, b, c, {.add = add});
  parallel_for(count, [&](int64_t i) {
    const Matrix ai = {a.data + i * strides.a, a.row_stride, a.column_stride};
    const Matrix bi = {b.data + i * strides.b, b.row_stride, b.column_stride};
    Scratch scratch;
    float* packed = scratch.take<float>(packed_size(s.depth, s.columns));
    pack(bi, s.depth, s.columns, packed);
    gemm_here(s, ai, packed, {c.data + i * strides.c, c.row_stride}, {.add = add});
  });
}

}  // namespace fovea::kernels
#endif
