#include "bench/tanh_loop.h"

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/tanh_loop.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// x · P(x²) / Q(x²), the rational tanh of Eigen and others, within a few ulp.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V rational_tanh(D d, V x) {
  x = hn::Max(hn::Set(d, -7.9f), hn::Min(hn::Set(d, 7.9f), x));
  const V y = hn::Mul(x, x);
  V p = hn::Set(d, -2.76076847742355e-16f);
  for (float c : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f, 1.48572235717979e-05f,
                  6.37261928875436e-04f, 4.89352455891786e-03f}) {
    p = hn::MulAdd(p, y, hn::Set(d, c));
  }
  V q = hn::Set(d, 1.19825839466702e-06f);
  for (float c : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f})
    q = hn::MulAdd(q, y, hn::Set(d, c));
  return hn::Div(hn::Mul(x, p), q);
}

void tanh_row(const kernels::AdditiveScores& a, int64_t row) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  const float* q = a.q + row * a.q_stride;
  for (int64_t j = 0; j < a.keys; ++j) {
    auto sum = hn::Zero(d);
    for (int64_t c = 0; c < a.width; c += lanes) {
      const auto x = hn::Add(hn::LoadU(d, q + c), hn::LoadU(d, a.k + j * a.k_stride + c));
      sum = hn::MulAdd(hn::LoadU(d, a.vector + c), rational_tanh(d, x), sum);
    }
    a.scores[row * a.row_stride + j] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {

HWY_EXPORT(tanh_row);
void tanh_scores(const kernels::AdditiveScores& a) {
  auto run = HWY_DYNAMIC_DISPATCH(tanh_row);
  parallel_for(a.queries, [&](int64_t row) { run(a, row); });
}

}  // namespace fovea
#endif
