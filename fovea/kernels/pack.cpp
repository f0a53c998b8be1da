#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/block_panels.h"
#include "fovea/kernels/gemm_task.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/pack.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/round-inl.h"
#include "fovea/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void pack_panel(const Matrix& b, int64_t depth, int64_t columns, float* packed) {
  pack_lanes<panel_width>(b.data, b.column_stride, b.row_stride, columns, depth, packed);
}

// Rows [begin, end) of a B with contiguous rows, into all panels: read in the order of memory, eight rows at a time, so
// that each panel's page is visited once for eight lines.
void pack_rows(const Matrix& b, int64_t panel_depth, int64_t columns, int64_t begin, int64_t end, float* packed) {
  const FloatTag d;
  const int64_t whole = columns / panel_width;
  for (int64_t k = begin; k < end; k += 8) {
    const int64_t stop = HWY_MIN(k + 8, end);
    for (int64_t p = 0; p < whole; ++p) {
      for (int64_t i = k; i < stop; ++i) {
        const float* from = b.data + i * b.row_stride + p * panel_width;
        float* to = packed + (p * panel_depth + i) * panel_width;
        for (int64_t j = 0; j < panel_width; j += lanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
      }
    }
  }
  if (whole * panel_width == columns) return;
  const float* from = b.data + begin * b.row_stride + whole * panel_width;
  pack_lanes<panel_width>(from, 1, b.row_stride, columns - whole * panel_width, end - begin,
                          packed + (whole * panel_depth + begin) * panel_width);
}

// The same for pairs [begin, end) of rows, as words of bf16.
void pack_bf16_rows(const Matrix& b, int64_t depth, int64_t columns, int64_t begin, int64_t end, float* packed) {
  const int64_t pairs = words_of_b(Precision::bf16, depth);
  for (int64_t k = begin; k < end; k += 4) {
    const int64_t stop = HWY_MIN(k + 4, end);
    for (int64_t column = 0; column < columns; column += panel_width) {
      const int64_t width = HWY_MIN(panel_width, columns - column);
      for (int64_t i = k; i < stop; ++i) {
        const float* from = b.data + 2 * i * b.row_stride + column;
        float* to = packed + column * pairs + i * panel_width;
        round_pair_to_bf16(from, 2 * i + 1 < depth ? from + b.row_stride : nullptr, width, to);
        std::fill(to + width, to + panel_width, 0.0f);
      }
    }
  }
}

// A panel of up to 16 columns as words of bf16 or int8: each column is rounded on its own, then the words are packed as floats
// are. int8 also leaves the columns' scales.
void pack_rounded_panel(Precision precision, const Matrix& b, int64_t depth, int64_t columns, float* packed,
                        float* scales) {
  columns = HWY_MIN(columns, panel_width);
  const int64_t words = words_of_b(precision, depth);
  Scratch scratch;
  float* rounded = scratch.take<float>(panel_width * words);
  float* contiguous = b.row_stride == 1 ? nullptr : scratch.take<float>(depth);
  for (int64_t j = 0; j < columns; ++j) {
    const float* column = b.data + j * b.column_stride;
    if (contiguous) {
      for (int64_t k = 0; k < depth; ++k) contiguous[k] = column[k * b.row_stride];
      column = contiguous;
    }
    if (precision == Precision::bf16) {
      round_to_bf16(column, depth, reinterpret_cast<std::byte*>(rounded + j * words));
    } else {
      const Rounding r = rounding_of(column, depth);
      scales[j] = r.scale;
      round_to_bytes(column, depth, r, reinterpret_cast<int8_t*>(rounded + j * words));
    }
  }
  pack_lanes<panel_width>(rounded, words, 1, columns, words, packed);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(pack_panel);
HWY_EXPORT(pack_rows);
HWY_EXPORT(pack_bf16_rows);
HWY_EXPORT(pack_rounded_panel);

int64_t panels_of(int64_t columns) { return (columns + panel_width - 1) / panel_width; }

constexpr int64_t grain = 16384;  // elements that are worth another thread
constexpr int64_t line = 64;      // bytes

}  // namespace

void check(const PackedMatrix& b, const char* where) {
  constexpr int64_t deepest = ((int64_t{1} << 31) - 1) / (127 * 127);
  require(b.depth >= 0 && b.columns >= 0, "{}: found {} columns, depth {}, expected none below 0", where, b.columns,
          b.depth);
  require(b.precision != Precision::int8 || b.depth <= deepest,
          "{}: found depth {} in int8, expected at most {}, so that sums fit into 32 bits; use bf16 or f32", where,
          b.depth, deepest);
  require(!b.blocks || b.depth % block_of(*b.blocks).numbers == 0,
          "{}: found depth {} in {}, expected a multiple of its block of {}", where, b.depth,
          b.blocks ? name(*b.blocks) : "", b.blocks ? block_of(*b.blocks).numbers : 0);
}

const float* scales_of(const PackedMatrix& b) {
  if (b.precision != Precision::int8) return nullptr;
  return reinterpret_cast<const float*>(b.data) + panels_of(b.columns) * words_of_b(b.precision, b.depth) * panel_width;
}

int64_t packed_bytes(Precision precision, int64_t depth, int64_t columns) {
  check({precision, depth, columns}, "packed_bytes");
  const int64_t words = panels_of(columns) * words_of_b(precision, depth) * panel_width;
  const int64_t bytes = 4 * (words + (precision == Precision::int8 ? columns : 0));
  return (bytes + line - 1) / line * line;
}

void pack(Precision precision, const Matrix& b, int64_t depth, int64_t columns, std::byte* packed) {
  pack_columns({precision, depth, columns, packed}, 0, b, columns);
}

void pack_columns(const PackedMatrix& whole, int64_t first_column, const Matrix& b, int64_t columns) {
  check(whole, "pack");
  require(first_column % panel_width == 0 && first_column >= 0 && first_column + columns <= whole.columns,
          "pack: found columns {} to {} of {}, expected them inside and to begin with a panel", first_column,
          first_column + columns, whole.columns);
  const auto [precision, depth, all, data, blocks] = whole;
  require(!blocks, "pack: found a matrix of blocks, expected one of numbers");
  const int64_t panel = words_of_b(precision, depth) * panel_width;
  float* words = reinterpret_cast<float*>(const_cast<std::byte*>(data)) + first_column / panel_width * panel;
  if (precision == Precision::f32) return pack(b, depth, columns, words);
  if (precision == Precision::bf16 && b.column_stride == 1) {
    return parallel_ranges(words_of_b(precision, depth), grain / (columns + 1) + 4, [&](int64_t begin, int64_t end) {
      HWY_DYNAMIC_DISPATCH(pack_bf16_rows)(b, depth, columns, begin, end, words);
    });
  }
  float* scales = const_cast<float*>(scales_of(whole));
  if (scales && first_column + columns == all)
    std::fill(reinterpret_cast<std::byte*>(scales + all),
              const_cast<std::byte*>(data) + packed_bytes(precision, depth, all), std::byte{0});
  if (scales) scales += first_column;
  parallel_ranges(panels_of(columns), grain / panel_width / (depth + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * panel_width;
      HWY_DYNAMIC_DISPATCH(pack_rounded_panel)
      (precision, {b.data + first * b.column_stride, b.row_stride, b.column_stride}, depth, columns - first,
       words + p * panel, scales ? scales + first : nullptr);
    }
  });
}

void unpack_column(const PackedMatrix& b, int64_t column, float* to) {
  check(b, "unpack_column");
  require(column >= 0 && column < b.columns, "unpack_column: found column {} of {}", column, b.columns);
  if (b.blocks) return unpack_block_column(b, column, to);
  const int64_t numbers = numbers_of(b.precision), bytes = 4 / numbers;
  const std::byte* from =
      b.data + (column / panel_width * words_of_b(b.precision, b.depth) * panel_width + column % panel_width) * 4;
  const float scale = b.precision == Precision::int8 ? scales_of(b)[column] : 1;
  for (int64_t k = 0; k < b.depth; ++k) {
    const std::byte* number = from + k / numbers * panel_width * 4 + k % numbers * bytes;
    if (b.precision == Precision::int8) {
      to[k] = static_cast<float>(std::to_integer<int8_t>(*number)) * scale;
    } else {
      uint32_t bits = 0;  // of a float; bf16 is its upper half
      std::memcpy(reinterpret_cast<std::byte*>(&bits) + 4 - bytes, number, static_cast<size_t>(bytes));
      to[k] = std::bit_cast<float>(bits);
    }
  }
}

int64_t packed_size(int64_t depth, int64_t columns) { return panels_of(columns) * panel_width * depth; }

void pack(const Matrix& b, int64_t depth, int64_t columns, float* packed) { pack(b, depth, columns, packed, depth); }

void pack(const Matrix& b, int64_t depth, int64_t columns, float* packed, int64_t panel_depth) {
  if (b.column_stride == 1) {
    return parallel_ranges(depth, grain / (columns + 1) + 8, [&](int64_t begin, int64_t end) {
      HWY_DYNAMIC_DISPATCH(pack_rows)(b, panel_depth, columns, begin, end, packed);
    });
  }
  parallel_ranges(panels_of(columns), grain / panel_width / (depth + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const Matrix panel = {b.data + p * panel_width * b.column_stride, b.row_stride, b.column_stride};
      HWY_DYNAMIC_DISPATCH(pack_panel)(panel, depth, columns - p * panel_width, packed + p * panel_width * panel_depth);
    }
  });
}

bool is_finite(const PackedMatrix& m) {
  if (m.blocks) return blocks_are_finite(m);
  const int64_t bytes = packed_bytes(m.precision, m.depth, m.columns);
  if (m.precision == Precision::bf16) {
    const auto* numbers = reinterpret_cast<const uint16_t*>(m.data);
    return std::none_of(numbers, numbers + bytes / 2, [](uint16_t bits) { return (bits & 0x7f80) == 0x7f80; });
  }
  const bool scaled = m.precision == Precision::int8;
  const float* numbers = scaled ? scales_of(m) : reinterpret_cast<const float*>(m.data);
  return std::all_of(numbers, numbers + (scaled ? m.columns : bytes / 4), [](float x) { return std::isfinite(x); });
}

}  // namespace fovea::kernels
#endif
