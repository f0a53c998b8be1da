// 2^x of a vector, about 1.5e-7 relative, by range reduction to |r| ≤ 1/2 and a polynomial of degree five.
//
//   hn::Vec<D> p = exp2(d, hn::Sub(s, maximum));
//
// 2^0 is exactly 1, 2^−∞ is exactly 0, results below 2^−126 may be 0, and a NaN stays one. For x up to 127.
#if defined(FOVEA_KERNELS_EXP2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_EXP2_INL_H_
#undef FOVEA_KERNELS_EXP2_INL_H_
#else
#define FOVEA_KERNELS_EXP2_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// (2^r − 1) / r, the relative minimax fit of 2^r with its constant term held at 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_slope(D d, V r) {
  V p = hn::MulAdd(hn::Set(d, 0x1.5bba14p-10f), r, hn::Set(d, 0x1.3cea88p-7f));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.c6b752p-5f));
  p = hn::MulAdd(p, r, hn::Set(d, 0x1.ebf9bcp-3f));
  return hn::MulAdd(p, r, hn::Set(d, 0x1.62e42ap-1f));
}

// x = n + r with n whole; adding 1.5 · 2^23 rounds, and leaves n in the low bits of the sum.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V add_exponent(D d, V p, V rounded) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, rounded))));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2(D d, V x) {
  const V one = hn::Set(d, 1.0f);
#if HWY_TARGET <= HWY_AVX3
  const V r{_mm512_reduce_ps(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  const V p = hn::MulAdd(exp2_slope(d, r), r, one);
  return V{_mm512_scalef_ps(p.raw, hn::Sub(x, r).raw)};
#else
  const V magic = hn::Set(d, 0x1.8p23f);
  const V rounded = hn::Add(x, magic), r = hn::Sub(x, hn::Sub(rounded, magic));
  const V p = hn::MulAdd(exp2_slope(d, r), r, one);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -126.0f)), add_exponent(d, p, rounded));
#endif
}

// The same for x of −126 to 127.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V bounded_exp2(D d, V x) {
  const V one = hn::Set(d, 1.0f);
#if HWY_TARGET <= HWY_AVX3
  const V whole = hn::Round(x), r = hn::Sub(x, whole);
  return V{_mm512_scalef_ps(hn::MulAdd(exp2_slope(d, r), r, one).raw, whole.raw)};
#else
  const V magic = hn::Set(d, 0x1.8p23f);
  const V rounded = hn::Add(x, magic), r = hn::Sub(x, hn::Sub(rounded, magic));
  return add_exponent(d, hn::MulAdd(exp2_slope(d, r), r, one), rounded);
#endif
}

// tanh(z) from x = 2 log2(e) z, as (2^x − 1) / (2^x + 1) without cancellation near 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_of_exponent(D d, V x) {
  const V one = hn::Set(d, 1.0f), limit = hn::Set(d, 60.0f), magic = hn::Set(d, 0x1.8p23f);
  x = hn::IfThenElse(hn::Gt(x, limit), limit, x);
  x = hn::IfThenElse(hn::Lt(x, hn::Neg(limit)), hn::Neg(limit), x);
  const V rounded = hn::Add(x, magic), r = hn::Sub(x, hn::Sub(rounded, magic));
  const V power = add_exponent(d, one, rounded);
  const V minus_one = hn::MulAdd(hn::Mul(exp2_slope(d, r), r), power, hn::Sub(power, one));
  return hn::Div(minus_one, hn::Add(minus_one, hn::Set(d, 2.0f)));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
