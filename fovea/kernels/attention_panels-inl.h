// Rows laid side by side for the tiles: panels [⌈tokens / 16⌉][width][16] of keys, groups [width][group_rows] of
// queries.
//
//   pack_panel(k, token_stride, count, width, ScoreKind::dot, panel);
//
// For additive scores the packed numbers are e^{2x}, |x| clamped, so that tanh(q + k) = 1 − 2 / (1 + e^{2q} · e^{2k}).
#if defined(FOVEA_KERNELS_ATTENTION_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_PANELS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_PANELS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_PANELS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "fovea/kernels/attention_plan.h"
#include "fovea/kernels/attention_tiles-inl.h"
#include "fovea/kernels/exp2-inl.h"
#include "fovea/kernels/fetch.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Rows of tokens lie far apart, where no CPU looks for them by itself.
template <int write = 0>
HWY_INLINE void fetch_row(const float* row, int64_t width) {
  fetch<write>(row, width * static_cast<int64_t>(sizeof(float)));
}

// x → e^{2x} in place; the buffer has room up to a multiple of 16.
HWY_INLINE void exponentiate(float* x, int64_t count) {
  const F d;
  const V top = hn::Set(d, additive_clamp), bottom = hn::Set(d, -additive_clamp);
  for (int64_t i = 0; i < count; i += lanes) {
    V y = hn::LoadU(d, x + i);
    y = hn::IfThenElse(hn::Gt(y, top), top, y);
    y = hn::IfThenElse(hn::Lt(y, bottom), bottom, y);
    hn::StoreU(exp2(d, hn::Mul(y, hn::Set(d, 2 * log2_e))), d, x + i);
  }
}

HWY_INLINE void multiply(float* x, int64_t count, float factor) {
  const F d;
  for (int64_t i = 0; i < count; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, x + i);
}

#if HWY_TARGET != HWY_SCALAR
// The 128-bit blocks of a vector, `step` apart.
template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, float* to, int64_t step) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, v), to, step);
    store_blocks(half, hn::UpperHalf(half, v), to + static_cast<int64_t>(hn::Lanes(half)) / 4 * step, step);
  } else {
    hn::StoreU(v, d, to);
  }
}

// Columns [c, width) of four rows as far as they fill whole vectors; returns where they end.
template <class D>
HWY_INLINE int64_t transpose_four_rows(D d, const float* const* rows, int64_t c, int64_t width, float* to,
                                       int64_t to_stride) {
  const hn::RepartitionToWide<D> pairs;
  const auto lanes_of_d = static_cast<int64_t>(hn::Lanes(d));
  for (; c + lanes_of_d <= width; c += lanes_of_d) {
    const auto a = hn::LoadU(d, rows[0] + c), b = hn::LoadU(d, rows[1] + c);
    const auto e = hn::LoadU(d, rows[2] + c), f = hn::LoadU(d, rows[3] + c);
    const auto ab0 = hn::BitCast(pairs, hn::InterleaveLower(d, a, b)),
               ab1 = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto ef0 = hn::BitCast(pairs, hn::InterleaveLower(d, e, f)),
               ef1 = hn::BitCast(pairs, hn::InterleaveUpper(d, e, f));
    float* out = to + c * to_stride;
    store_blocks(d, hn::BitCast(d, hn::InterleaveLower(pairs, ab0, ef0)), out, 4 * to_stride);
    store_blocks(d, hn::BitCast(d, hn::InterleaveUpper(pairs, ab0, ef0)), out + to_stride, 4 * to_stride);
    store_blocks(d, hn::BitCast(d, hn::InterleaveLower(pairs, ab1, ef1)), out + 2 * to_stride, 4 * to_stride);
    store_blocks(d, hn::BitCast(d, hn::InterleaveUpper(pairs, ab1, ef1)), out + 3 * to_stride, 4 * to_stride);
  }
  return c;
}
#endif

// to[c * to_stride + r] = rows[r][c] for up to four rows.
HWY_INLINE void transpose_rows(const float* const* rows, int64_t count, int64_t width, float* to, int64_t to_stride) {
  int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  if (count >= 4) {
    c = transpose_four_rows(F(), rows, c, width, to, to_stride);
    c = transpose_four_rows(hn::CappedTag<float, 4>(), rows, c, width, to, to_stride);
  }
#endif
  for (; c < width; ++c) {
    for (int64_t r = 0; r < count; ++r) to[c * to_stride + r] = rows[r][c];
  }
}

// Numbers as halves and back, up to a multiple of 16 of them.
HWY_INLINE void to_halves(const float* from, int64_t count, uint16_t* to) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, F> halves;
  for (int64_t i = 0; i < count; i += lanes)
    hn::StoreU(hn::DemoteTo(halves, hn::LoadU(F(), from + i)), halves, reinterpret_cast<hwy::float16_t*>(to + i));
#else
  for (int64_t i = 0; i < count; ++i) to[i] = half_of_float(from[i]);
#endif
}
HWY_INLINE void from_halves(const uint16_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += lanes) hn::StoreU(numbers_at(from + i), F(), to + i);
}
HWY_INLINE void round_to_halves(float* x, int64_t count) {
  uint16_t halves[16];
  for (int64_t i = 0; i < count; i += 16) to_halves(x + i, 16, halves), from_halves(halves, 16, x + i);
}

// Up to 16 rows into one panel; lanes without a row become 0.
HWY_INLINE void pack_panel(const float* k, int64_t stride, int64_t count, int64_t width, ScoreKind score, float* to) {
  if (count < panel) std::fill(to, to + width * panel, 0.0f);
  for (int64_t r = 0; r < count; r += 4) {
    const float* rows[4] = {};
    for (int64_t i = r; i < std::min(count, r + 4); ++i) rows[i - r] = k + i * stride;
    transpose_rows(rows, std::min<int64_t>(4, count - r), width, to + r, panel);
  }
  if (score == ScoreKind::additive) exponentiate(to, width * panel);
}

// Rows given by their addresses into groups [⌈count / group_rows⌉][width][group_rows]; needs 16 floats of room behind.
HWY_INLINE void pack_groups(const float* const* rows, int64_t count, int64_t width, float* to) {
  for (int64_t g = 0; g < count; g += group_rows, to += group_rows * width) {
    int64_t size = std::min<int64_t>(group_rows, count - g);
    if (size < group_rows) std::fill(to, to + group_rows * width, 0.0f);
    for (int64_t r = 0; r < size; r += 4) {
      transpose_rows(rows + g + r, std::min<int64_t>(4, size - r), width, to + r, group_rows);
    }
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
