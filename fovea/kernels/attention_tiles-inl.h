// The two products of attention, tile by tile in registers:
//
//   dot_scores(…):   S[row][key] = Σ_d Q[row][d] · K[key][d]          lanes are keys, K in panels of 16
//   mix_rows(…):     O[row][column] += Σ_j P[row][j] · V[j][column]   lanes are columns; P may be read transposed
//
// Each element is one chain of multiply-adds in rising order of d or j, whatever the tile that holds it.
#if defined(FOVEA_KERNELS_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_TILES_INL_H_
#undef FOVEA_KERNELS_ATTENTION_TILES_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

#include "fovea/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

constexpr int64_t panel = 16;  // keys side by side in packed K
constexpr int lanes = HWY_TARGET == HWY_SCALAR ? 1 : HWY_MIN(16, HWY_MAX_BYTES / static_cast<int>(sizeof(float)));
constexpr int panel_vectors = 16 / lanes;
constexpr bool wide = panel_vectors == 1;                           // 32 registers of 16 lanes
constexpr int group_rows = wide ? 12 : panel_vectors == 2 ? 6 : 4;  // rows of the largest score tile, and of packed Q
constexpr int64_t block_keys = 256;                                 // key blocks start at multiples of this
constexpr int64_t most_block = 1024;                                // those of tiles are larger
constexpr int64_t score_stride = block_keys + 16;                   // odd number of lines: rows do not share cache sets

// A lambda whose body is pasted where it is called; arrays indexed by its constants then live in registers. Sanitizers
// would choke on thousands of pasted copies, and one-lane vectors gain nothing: there it is a loop.
#define FOVEA_PASTE HWY_ATTR __attribute__((always_inline))
#if defined(FOVEA_SANITIZED) || !defined(__OPTIMIZE__)
constexpr bool pasted = false;
#else
constexpr bool pasted = lanes > 1;
#endif

template <int N, class Body>
HWY_INLINE void unroll(const Body& body) {
  if constexpr (pasted) {
    [&]<int... I>(std::integer_sequence<int, I...>) FOVEA_PASTE { (body(std::integral_constant<int, I>{}), ...); }
    (std::make_integer_sequence<int, N>{});
  } else {
    for (int i = 0; i < N; ++i) body(i);
  }
}

// Keys and values may be halves.
HWY_INLINE V numbers_at(const float* p) { return hn::LoadU(F(), p); }
HWY_INLINE V numbers_at(const uint16_t* p) {
#if HWY_TARGET <= HWY_AVX2
  return hn::PromoteTo(F(), hn::LoadU(hn::Rebind<hwy::float16_t, F>(), reinterpret_cast<const hwy::float16_t*>(p)));
#else
  alignas(64) float numbers[lanes];
  for (int i = 0; i < lanes; ++i) numbers[i] = float_of_half(p[i]);
  return hn::Load(F(), numbers);
#endif
}

// R rows of a packed query group against P panels of K, wherever they are. `ahead`: as many more, which are fetched meanwhile, stand
// behind them.
template <int R, int P, bool ahead = false, class Number>
HWY_INLINE void dot_tile(const float* HWY_RESTRICT q, const Number* const* panels, int64_t width,
                         float* HWY_RESTRICT s) {
  const F d;
  constexpr int C = P * panel_vectors;
  const Number* k[P];
  unroll<P>([&](auto p) FOVEA_PASTE { k[p] = panels[p]; });
  V sum[R * C];
  unroll<R * C>([&](auto i) FOVEA_PASTE { sum[i] = hn::Zero(d); });
  for (int64_t at = 0; at < width * panel; at += panel, q += group_rows) {
    V key[C];
    unroll<C>([&](auto c)
                  FOVEA_PASTE { key[c] = numbers_at(k[c / panel_vectors] + at + (c % panel_vectors) * lanes); });
    if constexpr (ahead) unroll<P>([&](auto p) FOVEA_PASTE { __builtin_prefetch(panels[P + p] + at); });
    unroll<R>([&](auto r) FOVEA_PASTE {
      const V query = hn::Set(d, q[r]);
      unroll<C>([&](auto c) FOVEA_PASTE { sum[r * C + c] = hn::MulAdd(query, key[c], sum[r * C + c]); });
    });
  }
  unroll<R>([&](auto r) FOVEA_PASTE {
    unroll<C>([&](auto c) FOVEA_PASTE { hn::StoreU(sum[r * C + c], d, s + r * score_stride + c * lanes); });
  });
}

// R rows and S slices of 16 columns; element (r, j) of P is p[r * row + j * step].
template <int R, int S, int64_t row, int64_t step, class Number>
HWY_INLINE void mix_tile(const float* HWY_RESTRICT p, const Number* HWY_RESTRICT v, int64_t v_stride, int64_t count,
                         float* HWY_RESTRICT o, int64_t o_stride) {
  const F d;
  constexpr int C = S * panel_vectors;
  V sum[R * C];
  unroll<R>([&](auto r) FOVEA_PASTE {
    unroll<C>([&](auto c) FOVEA_PASTE { sum[r * C + c] = hn::LoadU(d, o + r * o_stride + c * lanes); });
  });
  for (int64_t j = 0; j < count; ++j, v += v_stride, p += step) {
    V value[C];
    unroll<C>([&](auto c) FOVEA_PASTE { value[c] = numbers_at(v + c * lanes); });
    unroll<R>([&](auto r) FOVEA_PASTE {
      const V weight = hn::Set(d, p[r * row]);
      unroll<C>([&](auto c) FOVEA_PASTE { sum[r * C + c] = hn::MulAdd(weight, value[c], sum[r * C + c]); });
    });
  }
  unroll<R>([&](auto r) FOVEA_PASTE {
    unroll<C>([&](auto c) FOVEA_PASTE { hn::StoreU(sum[r * C + c], d, o + r * o_stride + c * lanes); });
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
