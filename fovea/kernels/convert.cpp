#include "fovea/kernels/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Halves = hn::Rebind<uint16_t, Floats>;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_INLINE hn::Vec<Floats> float_of(hn::Vec<Halves> half) {
  return hn::PromoteTo(Floats(), hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), half));
}
#else
// As bits of a float the exponent is 112 too small. Subnormal numbers are whole multiples of 2⁻²⁴; infinities and NaNs get a float's
// largest exponent.
HWY_INLINE hn::Vec<Floats> float_of(hn::Vec<Halves> half) {
  const hn::RebindToUnsigned<Floats> d;
  const hn::RebindToSigned<Floats> whole;
  const auto bits = hn::PromoteTo(d, half);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d, 0x8000u)));
  const auto magnitude = hn::And(bits, hn::Set(d, 0x7fffu));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  const auto normal = hn::Add(shifted, hn::Set(d, 112u << 23));
  const auto tiny = hn::Mul(hn::ConvertTo(Floats(), hn::BitCast(whole, magnitude)), hn::Set(Floats(), 0x1p-24f));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0x400u)), hn::BitCast(d, tiny), normal);
  const auto odd = hn::Gt(magnitude, hn::Set(d, 0x7bffu));
  return hn::BitCast(Floats(), hn::Or(sign, hn::IfThenElse(odd, hn::Or(shifted, hn::Set(d, 0x7f800000u)), finite)));
}
#endif

void float_of_half_here(int64_t count, const uint16_t* half, float* x) {
  constexpr int64_t most = HWY_LANES(float);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(float_of(hn::LoadU(Halves(), half + i)), Floats(), x + i);
  if (i == count) return;
  uint16_t rest[most] = {};
  float last[most];
  for (int64_t j = 0; i + j < count; ++j) rest[j] = half[i + j];
  hn::StoreU(float_of(hn::LoadU(Halves(), rest)), Floats(), last);
  for (int64_t j = 0; i + j < count; ++j) x[i + j] = last[j];
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
