// A forward task in bf16, on the tiles of amx.h: both products of dot scores, everything between them in f32.
//
//   if (job.on_tiles) TilePass(job, task).run();
//
// A score is a chain over the width as amx.h says it, an output one over the keys, 32 after 32 from the beginning of a key block.
// Weights of 0 add nothing, so neither the rows beside a row nor zeros behind the last key are seen in its bits.
#if defined(FOVEA_KERNELS_ATTENTION_AMX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_AMX_INL_H_
#undef FOVEA_KERNELS_ATTENTION_AMX_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_AMX_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>

#include "fovea/kernels/amx.h"
#include "fovea/kernels/attention_rows-inl.h"
#include "fovea/kernels/attention_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Values of a group's columns: from one 16 columns to the next are `column_stride` words.
struct BlockValues {
  const float* words = nullptr;
  int64_t column_stride = 0;
};

// Values [begin, end) of a unit's pages, the first at the beginning of a block; zeros up to a whole tile.
HWY_INLINE void gather_values(const ForwardUnit& unit, int64_t begin, int64_t end, int64_t columns, float* to,
                              int64_t column_stride) {
  const int64_t page_column = unit.page_tokens / 16 * half_tile;
  for (int64_t j = begin; j < round_up(end, step_keys); j += 16, to += half_tile) {
    for (int64_t c = 0; c < columns / 16; ++c)
      copy_half_tile(j < end ? unit.value_at(j) + c * page_column : nullptr, end - j, to + c * column_stride);
  }
}

// Packs one key block of a unit, as pack_block() does for vectors.
HWY_INLINE void pack_block_in_words(const ForwardJob& job, const ForwardUnit& unit, int64_t block) {
  const Attention& a = job.attention;
  const SequenceSpan& s = job.sequences[unit.sequence];
  const int64_t begin = block * block_keys, end = std::min(s.keys, begin + block_keys);
  const int64_t columns = round_up(a.shape.value_width, panel), stride = unit.column_stride;
  if (unit.own_panels) {
    const float* k = a.k.data + s.batch * a.k.batch + s.key_begin * a.k.token + unit.key_head * a.k.head;
    for (int64_t j = begin; j < end; j += panel) {
      for (int64_t r = j + panel; r < std::min(end, j + 2 * panel); ++r) fetch_row(k + r * a.k.token, a.shape.width);
      pack_key_words(k + j * a.k.token, a.k.token, std::min(panel, end - j), a.shape.width,
                     unit.own_panels + j * unit.width);
    }
  }
  if (!unit.own_values) return;
  float* to = unit.own_values + begin / 16 * half_tile;
  if (unit.pages) {
    gather_values(unit, begin, end, columns, to, stride);
  } else {
    const float* v = a.v.data + s.batch * a.v.batch + s.key_begin * a.v.token + unit.key_head * a.v.head;
    for (int64_t j = begin; j < round_up(end, step_keys); j += 16) {
      for (int64_t r = j + 16; r < std::min(end, j + 32); ++r) fetch_row(v + r * a.v.token, a.shape.value_width);
      pack_value_words(v + j * a.v.token, a.v.token, std::clamp<int64_t>(end - j, 0, 16), a.shape.value_width,
                       to + (j - begin) / 16 * half_tile, stride);
    }
  }
  unit.odd[block] = false;
  for (int64_t c = 0; c < columns / 16; ++c)
    if (has_odd_words(to + c * stride, round_up(end - begin, step_keys) / 16 * half_tile)) unit.odd[block] = true;
}

// Rows with the columns of a block that they need.
struct TileGroup {
  int64_t row = 0, count = 0;
  Columns columns;

  int64_t steps() const { return (columns.last - columns.first) / step_keys; }
};

class TilePass : ForwardRows {
 public:
  TilePass(ForwardJob& job, const ForwardTask& task)
      : ForwardRows(job, task, padded(task.rows()), tile_block),
        height_(std::min<int64_t>(rows_, 16)),
        words_(unit_.width),
        session_(rows_ > 16 ? 2 : 1, static_cast<int>(height_)) {
    scores_ = scratch_.take<float>(std::min(padded(rows_), group) * tile_stride);
    queries_ = scratch_.take<float>(padded(rows_) * words_);
    if (!unit_.own_values) gathered_ = scratch_.take<float>(columns_ * gathered_keys / 2);
    float* row = scratch_.take<float>(2 * words_);
    for (int64_t r = 0; r < rows_; ++r) {
      if (r + 16 < rows_) fetch_row(query_of(r + 16), a_.shape.width);
      row_in_words(query_of(r), a_.shape.width, score_factor(a_), row, queries_ + r * words_);
    }
  }

  // A group at a time: its scores stay near.
  void run() {
    const KeyRange blocks = visible_blocks();
    for (int64_t block = blocks.begin; block < blocks.end; ++block) {
      for (int64_t row = 0; row < rows_; row += group) {
        const int64_t count = std::min(group, rows_ - row);
        run_group({row, count, needed(block * tile_block, row, count, step_keys)});
      }
    }
    finish(blocks);
  }

 private:
  static constexpr int64_t group = 32;           // rows: two tiles
  static constexpr int64_t gathered_keys = 256;  // that are brought together from pages at a time

  static int64_t padded(int64_t rows) { return rows <= 16 ? rows : round_up(rows, 16); }
  static const std::byte* bytes(const float* words) { return reinterpret_cast<const std::byte*>(words); }

  void run_group(const TileGroup& g) {
    if (g.steps() > 0) multiply_keys(g);
    soften<true, group, tile_stride>(g.row, g.count, g.columns, scores_);
    const int64_t most = unit_.own_values ? tile_block : gathered_keys;
    TileGroup part = g;
    for (Columns& c = part.columns; c.first < g.columns.last; c.first = c.last) {
      c.last = std::min(c.first + most, g.columns.last);
      multiply_values(part, values_of(part));
    }
  }

  // Two panels at a time; where there is only one any more, the other's scores lie behind the last key, and soften() sets them.
  void multiply_keys(const TileGroup& g) {
    const Columns& c = g.columns;
    TileProduct product = product_of(g.count, words_ / 16);
    product.a = bytes(queries_ + g.row * words_), product.a_stride = words_ * 4;
    product.out_stride = tile_stride;
    for (int64_t j = c.first; j < c.last; j += step_keys) {
      const int64_t key = c.start + j;
      product.panels = key + panel < s_.keys ? 2 : 1;
      product.b = bytes(unit_.panel_at(key)), product.out = scores_ + j;
      if (product.panels == 2) product.b_panel = bytes(unit_.panel_at(key + panel)) - product.b;
      multiply_tiles(product);
    }
  }

  void multiply_values(const TileGroup& g, const BlockValues& v) {
    TileProduct product = product_of(g.count, g.steps());
    product.a = bytes(scores_ + g.columns.first / 2), product.a_stride = tile_stride * 4;
    product.b_panel = v.column_stride * 4;
    product.add = true, product.out_stride = columns_;
    for (int64_t p = 0; p < columns_ / 16; p += product.panels) {
      product.panels = std::min<int64_t>(4 / product.row_tiles, columns_ / 16 - p);
      product.b = bytes(v.words + p * v.column_stride);
      product.out = out_ + g.row * columns_ + p * 16;
      multiply_tiles(product);
    }
  }

  TileProduct product_of(int64_t count, int64_t blocks) const {
    return {.row_tiles = count > 16 ? 2 : 1, .height = height_, .blocks = blocks};
  }

  // Those of a group's columns. NaNs and infinities that one of its rows may not see are left out of the products, where they would be
  // seen through weights of 0, and are added here where they are seen indeed.
  BlockValues values_of(const TileGroup& g) {
    const Columns& c = g.columns;
    const int64_t begin = c.start + c.first, end = std::min(c.start + c.last, s_.keys);
    BlockValues v = {gathered_, g.steps() * 2 * half_tile};
    if (unit_.own_values)
      v = {unit_.own_values + begin / 16 * half_tile, unit_.column_stride};
    else
      gather_values(unit_, begin, end, columns_, gathered_, v.column_stride);
    if (unit_.odd && !*std::max_element(unit_.odd + begin / block_keys, unit_.odd + (end - 1) / block_keys + 1))
      return v;
    if (!partly_masked(g.row, g.count, {begin, end}) || !has_odd(v, g.steps())) return v;
    add_odd(g, v);
    if (!plain_) plain_ = scratch_.take<float>(columns_ * tile_block / 2);
    return without_odd(v, g.steps());
  }

  bool has_odd(const BlockValues& v, int64_t steps) const {
    for (int64_t p = 0; p < columns_ / 16; ++p)
      if (has_odd_words(v.words + p * v.column_stride, steps * 2 * half_tile)) return true;
    return false;
  }

  BlockValues without_odd(const BlockValues& v, int64_t steps) {
    const U d;
    const int64_t words = steps * 2 * half_tile;
    for (int64_t p = 0; p < columns_ / 16; ++p) {
      for (int64_t i = 0; i < words; i += lanes) {
        const Bits from = hn::BitCast(d, hn::LoadU(F(), v.words + p * v.column_stride + i));
        hn::StoreU(hn::BitCast(F(), hn::AndNot(odd_halves(from), from)), F(), plain_ + p * words + i);
      }
    }
    return {plain_, words};
  }

  void add_odd(const TileGroup& g, const BlockValues& v) {
    const Columns& c = g.columns;
    for (int64_t j = c.first; j < std::min(c.last, s_.keys - c.start); ++j) {
      const int64_t word = (j - c.first) / 16 * half_tile + j % 8 * 16, half = j % 16 / 8;
      for (int64_t p = 0; p < columns_; ++p) {
        const float value = half_of(v.words + p / 16 * v.column_stride + word + p % 16, half);
        if (std::isfinite(value)) continue;
        for (int64_t r = 0; r < g.count; ++r) {
          if (!sees(row_[g.row + r], c.start + j)) continue;
          const float weight = half_of(scores_ + r * tile_stride + j / 16 * 8 + j % 8, half);
          out_[(g.row + r) * columns_ + p] += weight * value;
        }
      }
    }
  }

  static float half_of(const float* word, int64_t half) {
    const auto bits = std::bit_cast<uint32_t>(*word);
    return std::bit_cast<float>(half == 0 ? bits << 16 : bits & 0xffff0000u);
  }

  int64_t height_, words_;  // words of a query
  TileSession session_;
  float *scores_, *queries_, *gathered_ = nullptr, *plain_ = nullptr;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
