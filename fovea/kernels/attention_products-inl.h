// Whole blocks of the two products, cut into the tiles of attention_tiles-inl.h, and copies of rows for them.
#if defined(FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "fovea/kernels/attention_panels-inl.h"
#include "fovea/kernels/attention_scores-inl.h"
#include "fovea/kernels/attention_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where the panels of one key block are.
template <class Number>
struct BlockPanels {
  const Number* at[block_keys / panel];
};

HWY_INLINE BlockPanels<float> neighbours(const float* first, int64_t width) {
  BlockPanels<float> k;
  for (int64_t p = 0; p < block_keys / panel; ++p) k.at[p] = first + p * panel * width;
  return k;
}

// R rows of a group over a run of panels, as many of them side by side as there are registers for.
template <int R, class Number>
HWY_INLINE void dot_rows(const float* q, const Number* const* k, int64_t width, int64_t panels, float* s) {
  constexpr int broad = wide ? (R == 1 ? 8 : R > 4 ? 2 : 4) : lanes > 1 ? (R == 1 ? 4 : R == 2 ? 2 : 1) : 1;
  int64_t p = 0;
  for (; p + 2 * broad <= panels; p += broad) dot_tile<R, broad, true>(q, k + p, width, s + p * panel);
  for (; p + broad <= panels; p += broad) dot_tile<R, broad>(q, k + p, width, s + p * panel);
  if constexpr (broad > 2)
    for (; p + 2 <= panels; p += 2) dot_tile<R, 2>(q, k + p, width, s + p * panel);
  if constexpr (broad > 1)
    for (; p < panels; ++p) dot_tile<R, 1>(q, k + p, width, s + p * panel);
}

// Rows that do not fill a group. Keys are read once for as many of them as there are registers for.
template <class Number>
HWY_INLINE void dot_few_rows(const float* q, int64_t rows, const Number* const* k, int64_t width, int64_t panels,
                             float* s) {
  if constexpr (wide)
    for (; rows >= 8; rows -= 8, q += 8, s += 8 * score_stride) dot_rows<8>(q, k, width, panels, s);
  for (; rows >= 4; rows -= 4, q += 4, s += 4 * score_stride) dot_rows<4>(q, k, width, panels, s);
  if (rows == 3) dot_rows<3>(q, k, width, panels, s);
  if (rows == 2) dot_rows<2>(q, k, width, panels, s);
  if (rows == 1) dot_rows<1>(q, k, width, panels, s);
}

// Scores of all rows with one key block; group g needs columns groups[g]. A pair of panels stays in the first cache
// while all groups pass by it.
template <class Number>
HWY_NOINLINE void dot_scores(const float* q, int64_t rows, const BlockPanels<Number>& k, int64_t width,
                             const Columns* groups, float* s) {
  constexpr int pair = wide ? 2 : 1;
  int64_t full = rows / group_rows;
  for (int64_t j = 0; j < block_keys; j += pair * panel) {
    for (int64_t g = 0; g < full; ++g) {
      const float* group = q + g * group_rows * width;
      float* to = s + g * group_rows * score_stride;
      int64_t first = std::max(j, groups[g].first), last = std::min(j + pair * panel, groups[g].last);
      if (last - first == pair * panel) {
        dot_tile<group_rows, pair>(group, k.at + first / panel, width, to + first);
      } else if (pair > 1 && last - first == panel) {
        dot_tile<group_rows, 1>(group, k.at + first / panel, width, to + first);
      }
    }
  }
  if (rows > full * group_rows) {
    const Columns& c = groups[full];
    dot_few_rows(q + full * group_rows * width, rows - full * group_rows, k.at + c.first / panel, width,
                 (c.last - c.first) / panel, s + full * group_rows * score_stride + c.first);
  }
}

// S slices of columns for any number of rows. `transposed`: row r of P is column r of the score buffer.
template <bool transposed, int S, class Number>
HWY_INLINE void mix_slices(const float* p, int64_t rows, const Number* v, int64_t v_stride, int64_t count, float* o,
                           int64_t o_stride) {
  constexpr int64_t row = transposed ? 1 : score_stride, step = transposed ? score_stride : 1;
  int64_t r = 0;
  const auto next = [&]<int R>(std::integral_constant<int, R>) HWY_ATTR {
    mix_tile<R, S, row, step>(p + r * row, v, v_stride, count, o + r * o_stride, o_stride);
    r += R;
  };
  while (r + 6 <= rows) next(std::integral_constant<int, 6>());
  while (r + 4 <= rows) next(std::integral_constant<int, 4>());
  if (r + 3 == rows) next(std::integral_constant<int, 3>());
  if (r + 2 == rows) next(std::integral_constant<int, 2>());
  if (r < rows) next(std::integral_constant<int, 1>());
}

// O[rows][16 · slices] += P · V[count][16 · slices].
template <bool transposed, class Number>
HWY_NOINLINE void mix_rows(const float* p, int64_t rows, const Number* v, int64_t v_stride, int64_t count, float* o,
                           int64_t o_stride, int64_t slices) {
  constexpr int64_t row = transposed ? 1 : score_stride, step = transposed ? score_stride : 1;
  int64_t c = 0;
  if constexpr (wide) {
    for (; c + 4 <= slices; c += 4)
      mix_slices<transposed, 4>(p, rows, v + c * panel, v_stride, count, o + c * panel, o_stride);
    for (; c + 2 <= slices; c += 2)
      mix_slices<transposed, 2>(p, rows, v + c * panel, v_stride, count, o + c * panel, o_stride);
  } else if (rows == 1) {
    for (; c + 4 <= slices; c += 4)
      mix_tile<1, 4, row, step>(p, v + c * panel, v_stride, count, o + c * panel, o_stride);
  }
  for (; c < slices; ++c) mix_slices<transposed, 1>(p, rows, v + c * panel, v_stride, count, o + c * panel, o_stride);
}

// Rows into contiguous ones of whole slices, filled with zeros.
HWY_INLINE void pack_rows(const float* from, int64_t stride, int64_t count, int64_t width, float* to) {
  int64_t padded = round_up(width, panel);
  for (int64_t r = 0; r < count; ++r, from += stride, to += padded) {
    std::copy(from, from + width, to);
    std::fill(to + width, to + padded, 0.0f);
  }
}

// Whether a NaN or an infinity is among them; the count is a multiple of 16.
HWY_INLINE bool has_odd_numbers(const float* x, int64_t count) {
  const F d;
  V sum = hn::Zero(d);
  for (int64_t i = 0; i < count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::Zero(d), sum);
  return !(hn::GetLane(hn::SumOfLanes(d, sum)) == 0);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
