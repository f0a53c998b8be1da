// A task of a matrix product on one instruction set: its tiles, and what happens to their sums before they are stored.
//
//   run_task(task);                                     // computes C[row_begin … row_end, column_begin … column_end)
//   const int64_t rows = rows_of_task();                // a task's rows at most
#if defined(FOVEA_KERNELS_GEMM_TASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_GEMM_TASK_INL_H_
#undef FOVEA_KERNELS_GEMM_TASK_INL_H_
#else
#define FOVEA_KERNELS_GEMM_TASK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "fovea/base/scratch.h"
#include "fovea/kernels/fetch.h"
#include "fovea/kernels/gemm_task.h"
#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/rows-inl.h"
#include "fovea/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Words of A in one pass over the tiles: a panel of B and a tile of A stay near the registers. The sums go on where they
// stopped.
inline constexpr int64_t depth_block = 768;

// Words of a panel, 2 KB, that a tile of several rows fetches ahead, for it multiplies so slowly that the CPU sees too few loads at once.
inline constexpr int64_t fetch_ahead = 512;

// Rows of a task at most: their block of A, 288 KB, stays in the second-level cache.
inline constexpr int64_t most_rows = 192;

int64_t rows_of_tile() { return tile_rows; }
int64_t rows_of_task() { return most_rows; }

// An integer sum is first made a float, times its row's scale, times its column's.
struct RowScale {
  RowScale(const GemmTask& t, int64_t row)
      : offset(hn::Set(Int8::Tag(), t.row_scales ? t.row_offsets[row] : 0)),
        scale(hn::Set(FloatTag(), t.row_scales ? t.row_scales[row] : 0)) {}
  HWY_INLINE FloatVector scaled(FloatVector sum, FloatVector column_scale) const {
    const auto number = hn::Add(hn::BitCast(Int8::Tag(), sum), offset);
    return hn::Mul(hn::Mul(hn::ConvertTo(FloatTag(), number), scale), column_scale);
  }
  Int8::Sum offset;
  FloatVector scale;
};

// C = activation(sum + bias) + residual for a rectangle of whole vectors, and nothing else.
template <bool scales, bool bias, bool residual>
HWY_NOINLINE void finish_plainly(const GemmTask& t, int64_t row, int64_t column, int64_t rows, int64_t columns,
                                 const float* sums, int64_t stride) {
  const FloatTag d;
  const float* const biases = t.epilogue.bias + (bias ? column : 0);
  const float* const column_scales = t.column_scales + (scales ? column : 0);
  with_activation(t.epilogue.activation, [&]<Activation f>() HWY_ATTR {
    float* c = t.c.data + row * t.c.row_stride + column;
    const float* summand =
        residual ? t.epilogue.residual.data + row * t.epilogue.residual.row_stride + column : nullptr;
    const int64_t c_stride = t.c.row_stride, summand_stride = t.epilogue.residual.row_stride;
    for (int64_t r = 0; r < rows; ++r, c += c_stride, sums += stride, summand += residual ? summand_stride : 0) {
      const RowScale scale(t, row + r);
      for (int64_t j = 0; j < columns; j += lanes) {
        FloatVector x = hn::LoadU(d, sums + j);
        if constexpr (scales) x = scale.scaled(x, hn::LoadU(d, column_scales + j));
        if constexpr (bias) x = hn::Add(x, hn::LoadU(d, biases + j));
        x = activated<f>(d, x);
        if constexpr (residual) x = hn::Add(x, hn::LoadU(d, summand + j));
        hn::StoreU(x, d, c + j);
      }
    }
  });
}

// C = activation(sum + bias) + residual for a rectangle whose top left element is (row, column) of C. What is added to C is added
// to a scaled sum here, to a sum of blocks, and to one of tiles.
HWY_NOINLINE void finish(const GemmTask& t, int64_t row, int64_t column, int64_t rows, int64_t columns,
                         const float* sums, int64_t stride) {
  const FloatTag d;
  const Epilogue& e = t.epilogue;
  const bool adds = e.add && (t.row_scales || t.blocks || t.unit == Unit::tiles);
  if (columns % lanes == 0 && !adds && !e.before.data) {
    const auto plainly = [&]<bool scales, bool bias>() {
      return e.residual.data ? finish_plainly<scales, bias, true> : finish_plainly<scales, bias, false>;
    };
    const auto with_bias = [&]<bool scales>() {
      return e.bias ? plainly.template operator()<scales, true>() : plainly.template operator()<scales, false>();
    };
    const auto run = t.row_scales ? with_bias.template operator()<true>() : with_bias.template operator()<false>();
    return run(t, row, column, rows, columns, sums, stride);
  }
  with_activation(e.activation, [&]<Activation f>() HWY_ATTR {
    for (int64_t r = 0; r < rows; ++r) {
      const RowScale scale(t, row + r);
      float* c = t.c.data + (row + r) * t.c.row_stride + column;
      float* before = e.before.data ? e.before.data + (row + r) * e.before.row_stride + column : nullptr;
      const float* residual = e.residual.data ? e.residual.data + (row + r) * e.residual.row_stride + column : nullptr;
      for_each_vector(columns, [&](int64_t j, auto part) HWY_ATTR {
        FloatVector x = part.load(sums + r * stride + j);
        if (t.row_scales) x = scale.scaled(x, part.load(t.column_scales + column + j));
        if (adds) x = hn::Add(x, part.load(c + j));
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

template <class Format, int vectors, bool packed, size_t... i>
constexpr auto kernels_of(std::index_sequence<i...>) {
  return std::array<Kernel, sizeof...(i)>{tile_kernel<Format, i + 1, vectors, packed>...};
}
// [rows − 1]: a whole tile's width, and the one vector that an odd number of panels leaves.
template <class Format, bool packed>
inline constexpr auto wide_kernels = kernels_of<Format, tile_vectors, packed>(std::make_index_sequence<tile_rows>());
template <class Format, bool packed>
inline constexpr auto narrow_kernels = kernels_of<Format, 1, packed>(std::make_index_sequence<tile_rows>());

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
  const bool plain = !t.row_scales && e.activation == Activation::none && !e.before.data;
  const bool from_zero = first && (!e.add || t.row_scales);
  float* c = t.c.data + tile.row * t.c.row_stride + tile.column;
  const bool direct = whole && (plain || !last);
  job.start = from_zero ? nullptr : c, job.start_stride = t.c.row_stride;
  job.bias = direct && last && e.bias ? e.bias + tile.column : nullptr;
  job.residual =
      direct && last && e.residual.data ? e.residual.data + tile.row * e.residual.row_stride + tile.column : nullptr;
  job.residual_stride = e.residual.row_stride;
  if (job.start && !whole) {
    copy_rectangle(tile.rows, columns, c, t.c.row_stride, buffer, tile.columns);
    job.start = buffer, job.start_stride = tile.columns;
  }
  job.out = direct ? c : buffer, job.out_stride = direct ? t.c.row_stride : tile.columns;
  for (int64_t r = 0; r < tile.rows; ++r) fetch<1>(c + r * t.c.row_stride, 4 * columns);  // while the sums are made
  tile.kernel(job);
  if (direct) return;
  if (last && (!plain || e.bias || e.residual.data))
    return finish(t, tile.row, tile.column, tile.rows, columns, buffer, tile.columns);
  copy_rectangle(tile.rows, columns, buffer, tile.columns, c, t.c.row_stride);
}

// Words of B from one panel to the next, and where those of (k, column) stand; k is a word of A, the first of its group.
template <class Format>
HWY_INLINE int64_t panel_words(const GemmTask& t) {
  return (t.shape.depth + Format::halves - 1) / Format::halves * panel_width;
}
template <class Format>
HWY_INLINE const float* column_of(const GemmTask& t, int64_t column, int64_t k) {
  return t.b + column / panel_width * panel_words<Format>(t) + k / Format::halves * panel_width + column % panel_width;
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

// Which part of the strip of B that follows tile i of `tiles` fetches, of so many words a panel: all of them together fetch it all.
HWY_INLINE void fetch_part(TileJob& job, const float* strip, int64_t panels, int64_t words, int64_t i, int64_t tiles) {
  job.next_lines = panels == 1 || tiles >= 8 ? 1 : tiles >= 4 ? 2 : 4;
  const int64_t line = i * (words / 4) * job.next_lines;
  job.next = strip + line * panel_width;
  if (line >= words) job.next += job.b_panel - words * panel_width;
  if (line >= panels * words) job.next_lines = 0;
}

// All tiles of a task over one block of depth: a strip of B stays near while the tiles of A pass by. After it comes the block at
// `next`.
template <class Format, bool packed>
void run_block(const GemmTask& t, const RowTiles& tiles, int64_t k, int64_t depth, const float* a, int64_t stride,
               int64_t next) {
  TileJob job = {.depth = depth, .a_stride = t.a.row_stride, .b_panel = panel_words<Format>(t)};
  for (int64_t j = t.column_begin; j < t.column_end;) {
    const Kernel* kernels = wide_kernels<Format, packed>.data();
    int64_t columns = tile_columns;
    if constexpr (tile_columns > panel_width) {
      if (t.column_end - j <= panel_width) kernels = narrow_kernels<Format, packed>.data(), columns = lanes;
    }
    job.b = column_of<Format>(t, j, k);
    const float* after =
        j + columns < t.column_end ? column_of<Format>(t, j + columns, k) : column_of<Format>(t, t.column_begin, next);
    for (int64_t i = 0; i < tiles.count; ++i) {
      const int64_t row = tiles.first[i], count = tiles.first[i + 1] - row;
      job.ahead = i == 0 ? fetch_ahead : 0;
      fetch_part(job, after, HWY_MAX(1, columns / panel_width), depth / Format::halves, i, tiles.count);
      job.a = packed ? a + i * stride : a + row * t.a.row_stride;
      run_tile(t, {kernels[count - 1], row, count, j, columns}, job, k);
    }
    j += columns;
  }
}

template <class Format>
void run_rows(const GemmTask& t) {
  const RowTiles tiles(t);
  // In-place residuals, and what scaled sums are added to, are needed at the end, so C cannot hold the partial sums then.
  const bool kept = t.epilogue.residual.data == t.c.data || (t.row_scales && t.epilogue.add);
  const int64_t blocks = kept ? 1 : HWY_MAX(1, (t.shape.depth + depth_block - 1) / depth_block);
  const int64_t most = HWY_MAX(2, (t.shape.depth + blocks - 1) / blocks + 1) / 2 * 2;
  // Contiguous rows can be read as they are, unless they lie so far apart that they compete for the same cache sets.
  const bool direct = t.a.column_stride == 1 && t.a.row_stride % 1024 != 0;
  const int64_t stride = tile_rows * most + 16;
  Scratch scratch;
  float* packed = direct ? nullptr : scratch.take<float>(tiles.count * stride);
  for (int64_t k = 0; k == 0 || k < t.shape.depth; k += most) {
    const int64_t depth = HWY_MIN(most, t.shape.depth - k), next = k + most < t.shape.depth ? k + most : 0;
    // Rounded rows stand where they are read best.
    if (direct) {
      run_block<Format, false>(t, tiles, k, depth, t.a.data + k, 0, next);
    } else if constexpr (!Format::rounded) {
      pack_tiles(t, tiles, k, depth, packed, stride);
      run_block<Format, true>(t, tiles, k, depth, packed, stride, next);
    }
  }
}

// Few rows: the weights are read once, as many panels at a time as hide the latency of the sums; A's rows are read as
// they are.
template <class Format, int rows, int vectors>
void run_few_columns(const GemmTask& t, const float* a, int64_t a_stride, int64_t* column) {
  constexpr int64_t columns = vectors * lanes;
  TileJob job = {.depth = t.shape.depth, .a = a, .a_stride = a_stride, .b_panel = panel_words<Format>(t)};
  job.ahead = fetch_ahead;
  // A kernel may compute columns of the last panel's filling, but must not leave the panels.
  const int64_t end = (t.column_end + panel_width - 1) / panel_width * panel_width;
  for (; *column < t.column_end && *column + columns <= end; *column += columns) {
    job.b = column_of<Format>(t, *column, 0);
    run_tile(t, {tile_kernel<Format, rows, vectors, false>, t.row_begin, rows, *column, columns}, job, 0);
  }
}

#ifdef FOVEA_SMALL_TILES
template <class Format, int rows>
inline constexpr int few_vectors = 2;
#else
template <class Format, int rows>
inline constexpr int few_vectors = rows == 1                                                     ? 8
                                   : rows == 3 && !std::is_same_v<Format, F32> && tile_rows < 12 ? 2
                                                                                                 : 4;
#endif

template <class Format, int rows>
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
  run_few_columns<Format, rows, few_vectors<Format, rows>>(t, a, a_stride, &column);
  run_few_columns<Format, rows, 2>(t, a, a_stride, &column);
  run_few_columns<Format, rows, 1>(t, a, a_stride, &column);
}

template <class Format>
void run_in(const GemmTask& t) {
  switch (t.row_end - t.row_begin) {
    case 1:
      return run_few<Format, 1>(t);
    case 2:
      return run_few<Format, 2>(t);
    case 3:
      return run_few<Format, 3>(t);
    default:
      return run_rows<Format>(t);
  }
}

void run_task(const GemmTask& t) {
  switch (t.precision) {
    case Precision::f32:
    case Precision::f16:  // no matrix is
      return run_in<F32>(t);
    case Precision::bf16:
#if FOVEA_HAS_BF16_DOTS
      if (t.unit == Unit::dot_products) return run_in<Bf16Dots>(t);
#endif
      return run_in<Bf16>(t);
    case Precision::int8:
#if FOVEA_HAS_DOTS
      if (t.unit == Unit::dot_products) return run_in<Dots>(t);
#endif
      return run_in<Int8>(t);
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
