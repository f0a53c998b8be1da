#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/attention_additive-inl.h"
#include "fovea/kernels/attention_panels-inl.h"
#include "fovea/kernels/attention_products-inl.h"
#include "fovea/kernels/attention_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// One key into its lane of a panel of halves; the row has room up to a multiple of 16.
void write_lane(const float* row, int64_t width, uint16_t* lane) {
  uint16_t halves[16];
  for (int64_t d = 0; d < width; d += 16) {
    to_halves(row + d, 16, halves);
    for (int64_t i = 0; i < std::min<int64_t>(16, width - d); ++i) lane[(d + i) * panel] = halves[i];
  }
}

// One head of a piece in f32 or f16: whole panels by transposition, single tokens lane by lane.
void write_piece(const WritePages& w, const PagePiece& piece, int64_t head) {
  const PageLayout& page = w.layout;
  const bool halves = page.precision == Precision::f16;
  const int64_t width = page.width, end = piece.begin + piece.tokens, stride = page.value_stride();
  const float *k = piece.k + head * w.k_head, *v = piece.v + head * w.v_head;
  float *keys = piece.page + head * page.head(), *values = keys + page.values();
  Scratch scratch;
  float* row = scratch.take<float>(std::max(halves ? panel * width : 0, round_up(std::max(width, stride), panel)));
  for (int64_t t = piece.begin; t < end;) {
    const float* from = k + (t - piece.begin) * w.k_token;
    float* to = keys + t / panel * panel * page.key_floats();
    if (t % panel == 0 && t + panel <= end) {
      pack_panel(from, w.k_token, panel, width, w.score, halves ? row : to);
      if (halves) to_halves(row, panel * width, reinterpret_cast<uint16_t*>(to));
      t += panel;
      continue;
    }
    std::copy_n(from, width, row);
    std::fill(row + width, row + round_up(width, panel), 0.0f);
    if (w.score == ScoreKind::additive) exponentiate(row, width);
    if (halves) {
      write_lane(row, width, reinterpret_cast<uint16_t*>(to) + t % panel);
    } else {
      for (int64_t d = 0; d < width; ++d) to[t % panel + d * panel] = row[d];
    }
    ++t;
  }
  if (!halves) return pack_rows(v, w.v_token, piece.tokens, page.value_width, values + piece.begin * stride);
  for (int64_t t = piece.begin; t < end; ++t, v += w.v_token) {
    pack_rows(v, w.v_token, 1, page.value_width, row);
    to_halves(row, stride, reinterpret_cast<uint16_t*>(values) + t * stride);
  }
}

// The same in bf16.
void write_piece_in_words(const WritePages& w, const PagePiece& piece, int64_t head) {
  const PageLayout& page = w.layout;
  const int64_t words = page.key_floats(), end = piece.begin + piece.tokens, columns = page.tokens / 16 * half_tile;
  float *keys = piece.page + head * page.head(), *values = keys + page.values();
  Scratch scratch;
  float *row = scratch.take<float>(words), *padded = scratch.take<float>(2 * words);
  for (int64_t t = piece.begin; t < end;) {
    const float *k = piece.k + (t - piece.begin) * w.k_token + head * w.k_head,
                *v = piece.v + (t - piece.begin) * w.v_token + head * w.v_head;
    if (t % panel == 0 && t + panel <= end) {
      pack_key_words(k, w.k_token, panel, page.width, keys + t * words);
      pack_value_words(v, w.v_token, panel, page.value_width, values + t / 16 * half_tile, columns);
      t += panel;
      continue;
    }
    row_in_words(k, page.width, 1, padded, row);
    float* lane = keys + t / panel * panel * words + t % panel;
    for (int64_t d = 0; d < words; ++d) lane[d * panel] = row[d];
    write_value_words(v, page.value_width, t % 16, values + t / 16 * half_tile, columns);
    ++t;
  }
}

// A few query groups against all panels of K.
void additive_rows_of(const AdditiveScores& a, const float* panels, int64_t begin, int64_t end) {
  Scratch scratch;
  float* q = scratch.take<float>(round_up(end - begin, group_rows) * a.width + panel);
  float* vector = scratch.take<float>(a.width);
  const float** rows = scratch.take<const float*>(end - begin);
  for (int64_t r = begin; r < end; ++r) rows[r - begin] = a.q + r * a.q_stride;
  pack_groups(rows, end - begin, a.width, q);
  exponentiate(q, round_up(end - begin, group_rows) * a.width);
  float base = scale_vector(a.vector, a.width, 1, vector);
  float* edge = scratch.take<float>(group_rows * panel);
  for (int64_t j = 0; j < a.keys; j += panel) {
    int64_t columns = std::min(panel, a.keys - j);
    for (int64_t r = begin; r < end; r += group_rows) {
      int64_t size = std::min<int64_t>(group_rows, end - r);
      const float *group = q + (r - begin) * a.width, *keys = panels + j * a.width;
      float* to = a.scores + r * a.row_stride + j;
      if (columns == panel) {
        additive_panel(group, size, keys, a.width, vector, base, to, a.row_stride);
        continue;
      }
      additive_panel(group, size, keys, a.width, vector, base, edge, panel);
      for (int64_t i = 0; i < size; ++i) std::copy_n(edge + i * panel, columns, to + i * a.row_stride);
    }
  }
}

void pack_additive_keys(const AdditiveScores& a, int64_t key, float* panels) {
  pack_panel(a.k + key * a.k_stride, a.k_stride, std::min(panel, a.keys - key), a.width, ScoreKind::additive,
             panels + key * a.width);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(write_piece);
HWY_EXPORT(write_piece_in_words);
HWY_EXPORT(additive_rows_of);
HWY_EXPORT(pack_additive_keys);

void write_pages(const WritePages& w) {
  int64_t tokens = 0;
  for (const PagePiece& piece : w.pieces) {
    require(piece.begin >= 0 && piece.tokens >= 0 && piece.begin + piece.tokens <= w.layout.tokens,
            "write_pages: found tokens [{}, {}), expected them inside a page of {}", piece.begin,
            piece.begin + piece.tokens, w.layout.tokens);
    tokens += piece.tokens;
  }
  const bool words = w.layout.precision == Precision::bf16;
  require(w.layout.precision == Precision::f32 || w.score == ScoreKind::dot,
          "write_pages: found additive keys for pages in {}, expected f32", name(w.layout.precision));
  auto write = words ? HWY_DYNAMIC_DISPATCH(write_piece_in_words) : HWY_DYNAMIC_DISPATCH(write_piece);
  const int64_t heads = w.layout.key_heads, count = static_cast<int64_t>(w.pieces.size()) * heads;
  auto one = [&](int64_t i) { write(w, w.pieces[i / heads], i % heads); };
  if (tokens * heads * w.layout.width >= 1 << 16) return parallel_for(count, one);
  for (int64_t i = 0; i < count; ++i) one(i);
}

void copy_page(const PageLayout& l, const float* from, int64_t tokens, float* to) {
  const int64_t panels = (tokens + 15) / 16, half_tile = 8 * 16;
  for (int64_t h = 0; h < l.key_heads; ++h, from += l.head(), to += l.head()) {
    std::copy_n(from, panels * 16 * l.key_floats(), to);
    if (l.precision != Precision::bf16) {
      const int64_t stride = l.precision == Precision::f32 ? l.value_stride() : l.value_stride() / 2;
      std::copy_n(from + l.values(), tokens * stride, to + l.values());
      continue;
    }
    for (int64_t c = l.values(); c < l.head(); c += l.tokens / 16 * half_tile)
      std::copy_n(from + c, panels * half_tile, to + c);
  }
}

void additive_scores(const AdditiveScores& a) {
  if (a.queries == 0 || a.keys == 0) return;
  Scratch scratch;
  float* panels = scratch.take<float>((a.keys + 15) / 16 * 16 * a.width);
  auto pack = HWY_DYNAMIC_DISPATCH(pack_additive_keys);
  auto run = HWY_DYNAMIC_DISPATCH(additive_rows_of);
  parallel_ranges((a.keys + 15) / 16, 8, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) pack(a, j * 16, panels);
  });
  int64_t rows = 48;
  parallel_for((a.queries + rows - 1) / rows,
               [&](int64_t i) { run(a, panels, i * rows, std::min(a.queries, (i + 1) * rows)); });
}

}  // namespace fovea::kernels
#endif
