#include "fovea/kernels/gemm.h"

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/rows-inl.h"
#include "fovea/kernels/tile-inl.h"

#ifndef FOVEA_KERNELS_GEMM_ONCE
#define FOVEA_KERNELS_GEMM_ONCE
namespace fovea::kernels {

// A rectangle of C, computed by one thread.
struct GemmTask {
  GemmShape shape;  // of the whole product
  Matrix a;
  const float* packed;
  Output c;
  Epilogue epilogue;
  int64_t row_begin, row_end, column_begin, column_end;  // columns in whole panels, but for the last
};

}  // namespace fovea::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Depth of one pass over the tiles: a panel of B and a tile of A stay near the registers. The sums go on where they
// stopped.
inline constexpr int64_t depth_block = 768;

// Rows of a task at most: their block of A stays in the second-level cache, 2 MB where there is AVX-512, else 512 KB.
inline constexpr int64_t most_rows = HWY_TARGET == HWY_AVX3 ? 256 : 96;

int64_t rows_of_tile() { return tile_rows; }
int64_t rows_of_task() { return most_rows; }

// C = activation(sum + bias) + residual for a rectangle whose top left element is (row, column) of C.
HWY_NOINLINE void finish(const GemmTask& t, int64_t row, int64_t column, int64_t rows, int64_t columns,
                         const float* sums, int64_t stride) {
  const FloatTag d;
  const Epilogue& e = t.epilogue;
  with_activation(e.activation, [&]<Activation f>() HWY_ATTR {
    for (int64_t r = 0; r < rows; ++r) {
      float* c = t.c.data + (row + r) * t.c.row_stride + column;
      float* before = e.before.data ? e.before.data + (row + r) * e.before.row_stride + column : nullptr;
      const float* residual = e.residual.data ? e.residual.data + (row + r) * e.residual.row_stride + column : nullptr;
      for_each_vector(columns, [&](int64_t j, auto part) HWY_ATTR {
        FloatVector x = part.load(sums + r * stride + j);
        if (e.bias) x = hn::Add(x, part.load(e.bias + column + j));
        if (before) part.store(x, before + j);
        x = activated<f>(d, x);
        if (residual) x = hn::Add(x, part.load(residual + j));
        part.store(x, c + j);
      });
    }
  });
}

void copy_rectangle(int64_t rows, int64_t columns, const float* from, int64_t from_stride, float* to,
                    int64_t to_stride) {
  for (int64_t r = 0; r < rows; ++r) std::copy_n(from + r * from_stride, columns, to + r * to_stride);
}

using Kernel = void (*)(const TileJob&);

template <int vectors, bool packed, size_t... i>
constexpr auto kernels_of(std::index_sequence<i...>) {
  return std::array<Kernel, sizeof...(i)>{tile_kernel<i + 1, vectors, packed>...};
}
// [rows − 1]: a whole tile's width, and the one vector that an odd number of panels leaves.
template <bool packed>
inline constexpr auto wide_kernels = kernels_of<tile_vectors, packed>(std::make_index_sequence<tile_rows>());
template <bool packed>
inline constexpr auto narrow_kernels = kernels_of<1, packed>(std::make_index_sequence<tile_rows>());

struct Tile {
  Kernel kernel;
  int64_t row, rows, column, columns;  // columns as the kernel computes them; those that exist may be fewer
};

// Runs one tile over one block of depth, straight into C where nothing else is to be done.
HWY_INLINE void run_tile(const GemmTask& t, const Tile& tile, TileJob& job, int64_t k) {
  alignas(64) float buffer[tile_rows * 128];
  const int64_t columns = HWY_MIN(tile.columns, t.shape.columns - tile.column);
  const bool whole = columns == tile.columns, first = k == 0, last = k + job.depth == t.shape.depth;
  const Epilogue& e = t.epilogue;
  const bool plain = !e.bias && e.activation == Activation::none && !e.residual.data && !e.before.data;
  float* c = t.c.data + tile.row * t.c.row_stride + tile.column;
  const bool direct = whole && (plain || !last);
  job.start = first && !e.add ? nullptr : c, job.start_stride = t.c.row_stride;
  if (job.start && !whole) {
    copy_rectangle(tile.rows, columns, c, t.c.row_stride, buffer, tile.columns);
    job.start = buffer, job.start_stride = tile.columns;
  }
  job.out = direct ? c : buffer, job.out_stride = direct ? t.c.row_stride : tile.columns;
  if (first) {
    for (int64_t r = 0; r < tile.rows; ++r) {
      for (int64_t j = 0; j < columns; j += 16) __builtin_prefetch(c + r * t.c.row_stride + j);
    }
  }
  tile.kernel(job);
  if (direct) return;
  if (last && !plain) return finish(t, tile.row, tile.column, tile.rows, columns, buffer, tile.columns);
  copy_rectangle(tile.rows, columns, buffer, tile.columns, c, t.c.row_stride);
}

HWY_INLINE const float* column_of(const GemmTask& t, int64_t column, int64_t k) {
  return t.packed + column / panel_width * panel_width * t.shape.depth + k * panel_width + column % panel_width;
}

// The rows of a task, cut into tiles of nearly equal height, and one block of A for them.
struct RowTiles {
  explicit RowTiles(const GemmTask& t) : count((t.row_end - t.row_begin + tile_rows - 1) / tile_rows) {
    for (int64_t i = 0; i <= count; ++i) first[i] = t.row_begin + (t.row_end - t.row_begin) * i / count;
  }
  int64_t count;
  int64_t first[most_rows + 1];
};

// Packs A[rows, k … k + depth) tile by tile, `stride` floats each. An A that lies column by column is read in the order
// of memory, eight columns at a time; whole vectors are stored, and what a vector holds beyond the tile is overwritten
// by the next column's, or falls into the gap behind the last one.
void pack_tiles(const GemmTask& t, const RowTiles& tiles, int64_t k, int64_t depth, float* packed, int64_t stride) {
  constexpr int64_t read = (tile_rows + lanes - 1) / lanes * lanes;
  const FloatTag d;
  const float* a = t.a.data + k * t.a.column_stride;
  int64_t together = 0;
  if (t.a.row_stride == 1) {
    while (together < tiles.count && tiles.first[together] + read <= t.shape.rows) ++together;
  }
  for (int64_t begin = 0; begin < depth; begin += 8) {
    const int64_t end = HWY_MIN(begin + 8, depth);
    for (int64_t i = 0; i < together; ++i) {
      for (int64_t j = begin; j < end; ++j) {
        const float* from = a + tiles.first[i] + j * t.a.column_stride;
        float* to = packed + i * stride + j * tile_rows;
        __builtin_prefetch(from + 8 * t.a.column_stride);
        for (int64_t v = 0; v < read; v += lanes) hn::StoreU(hn::LoadU(d, from + v), d, to + v);
      }
    }
  }
  for (int64_t i = together; i < tiles.count; ++i) {
    pack_lanes<tile_rows>(a + tiles.first[i] * t.a.row_stride, t.a.row_stride, t.a.column_stride,
                          t.shape.rows - tiles.first[i], depth, packed + i * stride);
  }
}

// All tiles of a task over one block of depth: a strip of B stays near while the tiles of A pass by.
template <bool packed>
void run_block(const GemmTask& t, const RowTiles& tiles, int64_t k, int64_t depth, const float* a, int64_t stride) {
  TileJob job = {.depth = depth, .a_stride = t.a.row_stride, .b_panel = panel_width * t.shape.depth};
  for (int64_t j = t.column_begin; j < t.column_end;) {
    const bool wide = t.column_end - j > tile_columns - panel_width || tile_columns <= panel_width;
    const auto& kernels = wide ? wide_kernels<packed> : narrow_kernels<packed>;
    const int64_t columns = wide ? tile_columns : lanes;
    job.b = column_of(t, j, k);
    for (int64_t i = 0; i < tiles.count; ++i) {
      const int64_t row = tiles.first[i], count = tiles.first[i + 1] - row;
      job.a = packed ? a + i * stride : a + row * t.a.row_stride;
      run_tile(t, {kernels[static_cast<size_t>(count - 1)], row, count, j, columns}, job, k);
    }
    j += columns;
  }
}

void run_rows(const GemmTask& t) {
  const RowTiles tiles(t);
  // In-place residuals need their old value at the end, so C cannot hold the partial sums then.
  const bool in_place = t.epilogue.residual.data == t.c.data;
  const int64_t blocks = in_place ? 1 : HWY_MAX(1, (t.shape.depth + depth_block - 1) / depth_block);
  const int64_t most = HWY_MAX(1, (t.shape.depth + blocks - 1) / blocks);
  // Contiguous rows can be read as they are, unless they lie so far apart that they compete for the same cache sets.
  const bool direct = t.a.column_stride == 1 && t.a.row_stride % 512 != 0;
  const int64_t stride = tile_rows * most + 16;
  Scratch scratch;
  float* packed = direct ? nullptr : scratch.take<float>(tiles.count * stride);
  for (int64_t k = 0; k == 0 || k < t.shape.depth; k += most) {
    const int64_t depth = HWY_MIN(most, t.shape.depth - k);
    if (direct) {
      run_block<false>(t, tiles, k, depth, t.a.data + k, 0);
    } else {
      pack_tiles(t, tiles, k, depth, packed, stride);
      run_block<true>(t, tiles, k, depth, packed, stride);
    }
  }
}

// Few rows: the weights are read once, as many panels at a time as hide the latency of the sums; A's rows are read as
// they are.
template <int rows, int vectors>
void run_few_columns(const GemmTask& t, const float* a, int64_t a_stride, int64_t* column) {
  constexpr int64_t columns = vectors * lanes;
  TileJob job = {.depth = t.shape.depth, .a = a, .a_stride = a_stride, .b_panel = panel_width * t.shape.depth};
  // A kernel may compute columns of the last panel's filling, but must not leave the panels.
  const int64_t end = (t.column_end + panel_width - 1) / panel_width * panel_width;
  for (; *column < t.column_end && *column + columns <= end; *column += columns) {
    job.b = column_of(t, *column, 0);
    run_tile(t, {tile_kernel<rows, vectors, false>, t.row_begin, rows, *column, columns}, job, 0);
  }
}

template <int rows>
void run_few(const GemmTask& t) {
  Scratch scratch;
  const float* a = t.a.data + t.row_begin * t.a.row_stride;
  int64_t a_stride = t.a.row_stride;
  if (t.a.column_stride != 1) {
    float* contiguous = scratch.take<float>(rows * t.shape.depth);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t k = 0; k < t.shape.depth; ++k) {
        contiguous[r * t.shape.depth + k] = a[r * t.a.row_stride + k * t.a.column_stride];
      }
    }
    a = contiguous, a_stride = t.shape.depth;
  }
  int64_t column = t.column_begin;
  run_few_columns<rows, rows == 1 ? 8 : 4>(t, a, a_stride, &column);
  run_few_columns<rows, 2>(t, a, a_stride, &column);
  run_few_columns<rows, 1>(t, a, a_stride, &column);
}

void run_task(const GemmTask& t) {
  switch (t.row_end - t.row_begin) {
    case 1:
      return run_few<1>(t);
    case 2:
      return run_few<2>(t);
    case 3:
      return run_few<3>(t);
    default:
      return run_rows(t);
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

// How a product is cut into tasks. It changes which thread computes an element, never how.
struct Grid {
  int64_t rows = 1, columns = 1;  // numbers of pieces
};

int64_t row_blocks(const GemmShape& s) {
  const int64_t most = HWY_DYNAMIC_DISPATCH(rows_of_task)();
  return (s.rows + most - 1) / most;
}

Grid cut(const GemmShape& s) {
  constexpr double worth_a_thread = 1e5;  // multiply-adds
  const double work = static_cast<double>(s.rows) * static_cast<double>(s.columns) * static_cast<double>(s.depth);
  const int64_t threads = fovea::threads(), panels = (s.columns + panel_width - 1) / panel_width;
  const int64_t tiles = (s.rows + HWY_DYNAMIC_DISPATCH(rows_of_tile)() - 1) / HWY_DYNAMIC_DISPATCH(rows_of_tile)();
  Grid grid;
  grid.rows = row_blocks(s);
  if (threads == 1 || work < 2 * worth_a_thread) return grid;
  const int64_t wanted = std::min<int64_t>(threads * 2, static_cast<int64_t>(work / worth_a_thread));
  if (tiles >= 4 * wanted) {
    grid.rows = (std::max(grid.rows, wanted) + threads - 1) / threads * threads;
  } else {
    grid.columns = std::clamp<int64_t>((wanted + grid.rows - 1) / grid.rows, 1, (panels + 1) / 2);
  }
  return grid;
}

void check(const GemmShape& s) {
  require(s.rows >= 0 && s.columns >= 0 && s.depth >= 0,
          "gemm: found {} rows, {} columns, depth {}, expected none below 0", s.rows, s.columns, s.depth);
}

void run_piece(const GemmShape& s, const Matrix& a, const float* packed, const Output& c, const Epilogue& epilogue,
               const Grid& grid, int64_t i) {
  const int64_t row = i / grid.columns, column = i % grid.columns;
  const int64_t pairs = (s.columns + 2 * panel_width - 1) / (2 * panel_width);
  GemmTask task = {s, a, packed, c, epilogue, 0, 0, 0, 0};
  task.row_begin = s.rows * row / grid.rows, task.row_end = s.rows * (row + 1) / grid.rows;
  task.column_begin = pairs * column / grid.columns * 2 * panel_width;
  task.column_end = std::min(s.columns, pairs * (column + 1) / grid.columns * 2 * panel_width);
  if (task.row_begin < task.row_end && task.column_begin < task.column_end) HWY_DYNAMIC_DISPATCH(run_task)(task);
}

}  // namespace

void gemm(const GemmShape& s, const Matrix& a, const float* packed, const Output& c, const Epilogue& epilogue) {
  check(s);
  const Grid grid = cut(s);
  parallel_for(grid.rows * grid.columns, [&](int64_t i) { run_piece(s, a, packed, c, epilogue, grid, i); });
}

void gemm_here(const GemmShape& s, const Matrix& a, const float* packed, const Output& c, const Epilogue& epilogue) {
  check(s);
  const Grid grid = {.rows = row_blocks(s)};
  for (int64_t i = 0; i < grid.rows; ++i) run_piece(s, a, packed, c, epilogue, grid, i);
}

void gemm(const GemmShape& s, const Matrix& a, const Matrix& b, const Output& c, const Epilogue& epilogue) {
  check(s);
  Scratch scratch;
  float* packed = scratch.take<float>(packed_size(s.depth, s.columns));
  pack(b, s.depth, s.columns, packed);
  gemm(s, a, packed, c, epilogue);
}

void batched_gemm(int64_t count, const GemmShape& s, const Matrix& a, const Matrix& b, const Output& c,
                  const BatchStrides& strides, bool add) {
  check(s);
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
