#include "fovea/kernels/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector of columns stays in registers while the rows go by; sums are added in rising order of rows.
template <class D>
HWY_INLINE void pool_vector(D d, const PoolShape& s, const float* x, float* largest, float* sums) {
  auto most = hn::LoadU(d, x), sum = most;
  for (int64_t i = 1; i < s.rows; ++i) {
    const auto w = hn::LoadU(d, x + i * s.stride);
    most = hn::Max(most, w), sum = hn::Add(sum, w);
  }
  hn::StoreU(most, d, largest);
  hn::StoreU(sum, d, sums);
}

void pool(const PoolShape& s, const float* x, float* largest, float* sums) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  int64_t j = 0;
  for (const auto lanes = static_cast<int64_t>(hn::Lanes(d)); j + lanes <= s.columns; j += lanes)
    pool_vector(d, s, x + j, largest + j, sums + j);
  for (; j < s.columns; ++j) pool_vector(one, s, x + j, largest + j, sums + j);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(pool);

}  // namespace

void pool_columns(const PoolShape& s, const float* x, float* largest, float* sums) {
  HWY_DYNAMIC_DISPATCH(pool)(s, x, largest, sums);
}

}  // namespace fovea::kernels
#endif
