// The element-wise heart of the backward pass (Dao et al. 2022), and the gradient of additive scores.
//
//   P = exp(S − maximum) / sum,  dP = dO Vᵀ (behind dropout),  D_i = dO_i · O_i,  dS = P ∘ (dP − D)
//
// and for a selected key with gradient g of its log-probability: dS_ij += g_i ([j = selected_i] − P_ij).
#if defined(FOVEA_KERNELS_ATTENTION_GRADIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_GRADIENTS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_GRADIENTS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_GRADIENTS_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/kernels/attention_additive-inl.h"
#include "fovea/kernels/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct WeightsOfRow {
  float maximum, inverse, delta;  // inverse: 1 / sum; delta: D
};

// s: finished scores → weights; g: dP → dS. What a row does not see has weight 0 and gets 0, whatever V holds there.
HWY_INLINE void weight_gradient(const Columns& c, const WeightsOfRow& row, float* s, float* g) {
  const F d;
  const V shift = hn::Set(d, row.maximum), inverse = hn::Set(d, row.inverse), minus = hn::Set(d, row.delta);
  for (int64_t j = c.first; j < c.last; j += lanes) {
    const V p = hn::Mul(shifted_exp(hn::LoadU(d, s + j), shift), inverse);
    const V ds = hn::Mul(p, hn::Sub(hn::LoadU(d, g + j), minus));
    hn::StoreU(p, d, s + j);
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(p, hn::Zero(d)), ds), d, g + j);
  }
}

// The same behind dropout: g holds the gradient of the dropped weights, and s becomes those.
HWY_INLINE void dropped_gradient(const Columns& c, const float* factor, const WeightsOfRow& row, float* s, float* g) {
  drop_row(c, factor, g);
  weight_gradient(c, row, s, g);
  drop_row(c, factor, s);
}

HWY_INLINE float dot_product(const float* x, const float* y, int64_t count) {
  const F d;
  V sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
  float total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) total += x[i] * y[i];
  return total;
}

HWY_INLINE void multiply_row(const Columns& c, const float* factor, float* g) {
  const F d;
  for (int64_t j = c.first; j < c.last; j += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, factor + j), hn::LoadU(d, g + j)), d, g + j);
}

HWY_INLINE void add_row(const float* from, int64_t count, float* to) {
  for (int64_t j = 0; j < count; ++j) to[j] += from[j];
}

// What the gradient of additive scores reads and adds to, for some rows against one key block. With y = 1 / (1 +
// e^{2q}e^{2k}):
//   tanh = 1 − 2y,  d tanh = 4 (y − y²)
struct AdditiveGradient {
  const float* query_groups;  // e^{2q}, starting at a group
  const float* key_panels;    // e^{2k}, of the block
  const float* vector;        // v_d
  int64_t width, rows;
  const float* ds;  // rows [score_stride]
  float* d_query;   // [rows, stride], added to
  int64_t d_query_stride;
  float* d_key_panels;  // added to
  float* d_vector;      // [width], added to
};

HWY_NOINLINE inline void additive_gradient(const AdditiveGradient& a, const Columns& c) {
  const F d;
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  for (int64_t t = 0; t < a.width; ++t) {
    const V four_v = hn::Set(d, 4 * a.vector[t]);
    V sum_tanh = zero;
    for (int64_t r = 0; r < a.rows; ++r) {
      const float* q = a.query_groups + (r / group_rows * a.width + t) * group_rows + r % group_rows;
      const V query = hn::Set(d, *q);
      V sum = zero;
      for (int64_t j = c.first; j < c.last; j += lanes) {
        int64_t at = j / panel * panel * a.width + t * panel + j % panel;
        const V ds = hn::LoadU(d, a.ds + r * score_stride + j);
        const auto nothing = hn::Eq(ds, zero);
        const V y = reciprocal(hn::MulAdd(query, hn::LoadU(d, a.key_panels + at), one));
        const V slope = hn::IfThenZeroElse(nothing, hn::Mul(ds, hn::NegMulAdd(y, y, y)));
        sum = hn::Add(sum, slope);
        sum_tanh = hn::Add(sum_tanh, hn::IfThenZeroElse(nothing, hn::Mul(ds, hn::NegMulAdd(hn::Set(d, 2.0f), y, one))));
        hn::StoreU(hn::MulAdd(slope, four_v, hn::LoadU(d, a.d_key_panels + at)), d, a.d_key_panels + at);
      }
      a.d_query[r * a.d_query_stride + t] += 4 * a.vector[t] * hn::GetLane(hn::SumOfLanes(d, sum));
    }
    a.d_vector[t] += hn::GetLane(hn::SumOfLanes(d, sum_tanh));
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
