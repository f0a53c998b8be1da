#include "fovea/kernels/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void float_of_half_here(int64_t count, const uint16_t* half, float* x) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, hn::ScalableTag<float>> dh;
  const hn::Rebind<uint16_t, hn::ScalableTag<float>> du;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(du, half + i))), d, x + i);
  const hn::CappedTag<float, 1> one;
  const hn::Rebind<hwy::float16_t, decltype(one)> one_half;
  const hn::Rebind<uint16_t, decltype(one)> one_bits;
  for (; i < count; ++i) x[i] = hn::GetLane(hn::PromoteTo(one, hn::BitCast(one_half, hn::Set(one_bits, half[i]))));
}

// 0 · x is 0 for every finite number, and NaN for the others.
bool all_finite_here(int64_t count, const float* x) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::Zero(d), sum);
  float rest = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) rest += 0 * x[i];
  return rest == 0;
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(float_of_half_here);
HWY_EXPORT(all_finite_here);

}  // namespace

void float_of_half(int64_t count, const uint16_t* half, float* x) {
  HWY_DYNAMIC_DISPATCH(float_of_half_here)(count, half, x);
}

bool all_finite(int64_t count, const float* x) { return HWY_DYNAMIC_DISPATCH(all_finite_here)(count, x); }

}  // namespace fovea::kernels
#endif
