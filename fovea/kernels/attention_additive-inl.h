// Additive scores (Bahdanau, Cho and Bengio 2014) from exponentials packed once per row:
//
//   Σ_d v_d tanh(q_d + k_d) = Σ_d v_d − 2 Σ_d v_d / (1 + e^{2 q_d} · e^{2 k_d})
//
// A term costs a fused multiply-add, a reciprocal with one Newton step and the sum's own multiply-add; no tanh.
#if defined(FOVEA_KERNELS_ATTENTION_ADDITIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_ADDITIVE_INL_H_
#undef FOVEA_KERNELS_ATTENTION_ADDITIVE_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_ADDITIVE_INL_H_
#endif

#include "fovea/kernels/attention_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 1 / x for ordinary x > 0, within about 2e-7.
HWY_INLINE V reciprocal(V x) {
  const F d;
  const V y = hn::ApproximateReciprocal(x);
  return hn::Mul(y, hn::NegMulAdd(x, y, hn::Set(d, 2.0f)));
}

// vector holds −2 v_d, base is Σ v_d.
template <int R, int P>
HWY_INLINE void additive_tile(const float* HWY_RESTRICT q, const float* HWY_RESTRICT k, int64_t width,
                              const float* HWY_RESTRICT vector, float base, float* HWY_RESTRICT s, int64_t s_stride) {
  const F d;
  constexpr int C = P * panel_vectors;
  const V one = hn::Set(d, 1.0f);
  V sum[R * C];
  unroll<R * C>([&](auto i) FOVEA_PASTE { sum[i] = hn::Set(d, base); });
  for (int64_t t = 0; t < width; ++t, q += group_rows, k += panel) {
    const V factor = hn::Set(d, vector[t]);
    V key[C];
    unroll<C>([&](auto c) FOVEA_PASTE {
      key[c] = hn::LoadU(d, k + (c / panel_vectors) * width * panel + (c % panel_vectors) * lanes);
    });
    unroll<R>([&](auto r) FOVEA_PASTE {
      const V query = hn::Set(d, q[r]);
      unroll<C>([&](auto c) FOVEA_PASTE {
        sum[r * C + c] = hn::MulAdd(factor, reciprocal(hn::MulAdd(query, key[c], one)), sum[r * C + c]);
      });
    });
  }
  unroll<R>([&](auto r) FOVEA_PASTE {
    unroll<C>([&](auto c) FOVEA_PASTE { hn::StoreU(sum[r * C + c], d, s + r * s_stride + c * lanes); });
  });
}

constexpr int additive_rows = group_rows / 2;

HWY_INLINE void additive_panel(const float* q, int64_t rows, const float* k, int64_t width, const float* vector,
                               float base, float* s, int64_t s_stride) {
  int64_t r = 0;
  for (; r + additive_rows <= rows; r += additive_rows) {
    additive_tile<additive_rows, 1>(q + r, k, width, vector, base, s + r * s_stride, s_stride);
  }
  for (; r < rows; ++r) additive_tile<1, 1>(q + r, k, width, vector, base, s + r * s_stride, s_stride);
}

// factor · −2 v_d into `scaled`; returns factor · Σ v_d.
HWY_INLINE float scale_vector(const float* vector, int64_t width, float factor, float* scaled) {
  float base = 0;
  for (int64_t t = 0; t < width; ++t) {
    base += vector[t];
    scaled[t] = -2 * factor * vector[t];
  }
  return base * factor;
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
