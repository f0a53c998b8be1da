// exp, log, tanh and sigmoid of float vectors for one instruction set, and the activations made of them.
//
//   const auto p = exp(d, hn::Sub(score, largest));        // d: any float tag, full or partial vectors
//
// exp and log are within two units in the last place; tanh and sigmoid within 2e-7 of the exact value, gelu(x) within 1.6e-7 |x|.
// NaN stays NaN, infinities and overflow give what libm gives. Each lane is computed on its own, so a masked tail has the bits
// of the body.
#if defined(FOVEA_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_MATH_INL_H_
#undef FOVEA_KERNELS_MATH_INL_H_
#else
#define FOVEA_KERNELS_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "fovea/kernels/activation.h"
#include "fovea/kernels/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A NaN stays: x86's max and min return their second operand then; the portable ones would return the bound.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, V x, float most) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Min(hn::Set(d, most), x);
#else
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, most)), hn::Set(d, most), x);
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V clamp(D d, V x, float least, float most) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  x = hn::Max(hn::Set(d, least), x);
#else
  x = hn::IfThenElse(hn::Lt(x, hn::Set(d, least)), hn::Set(d, least), x);
#endif
  return at_most(d, x, most);
}

// c0 + c1 x + c2 x² + …
template <class D, class V = hn::Vec<D>>
HWY_INLINE V polynomial(D d, V, float c0) {
  return hn::Set(d, c0);
}
template <class D, class V = hn::Vec<D>, class... C>
HWY_INLINE V polynomial(D d, V x, float c0, C... c) {
  return hn::MulAdd(polynomial(d, x, c...), x, hn::Set(d, c0));
}

// x = n ln 2 + r with the nearest integer n (Cody and Waite 1980), and exp(r) − 1 = r + r² p(r) with Cephes'
// polynomial. The integer is found by adding 1.5 · 2²³: it then stands in the lowest bits, ready to become an exponent.
template <class D, class V = hn::Vec<D>>
struct ExpParts {
  static constexpr float magic = 12582912.0f;
  static constexpr int32_t magic_bits = 0x4b400000;
  V shifted, r_minus_one;  // n + magic, exp(r) − 1

  HWY_INLINE ExpParts(D d, V x) {
    shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), hn::Set(d, magic));
    const V n = hn::Sub(shifted, hn::Set(d, magic));
    V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
    r = hn::MulAdd(n, hn::Set(d, 2.12194440e-4f), r);
    const V p = polynomial(d, r, 5.0000001201e-1f, 1.6666665459e-1f, 4.1665795894e-2f, 8.3334519073e-3f,
                           1.3981999507e-3f, 1.9875691500e-4f);
    r_minus_one = hn::MulAdd(p, hn::Mul(r, r), r);
  }
  // 2ⁿ for −126 ≤ n ≤ 127; the magic number's own bits are shifted out.
  HWY_INLINE V scale(D d) const {
    const hn::RebindToSigned<D> di;
    return hn::BitCast(d, hn::Add(hn::ShiftLeft<23>(hn::BitCast(di, shifted)), hn::Set(di, 0x3f800000)));
  }
};

// 2ⁿ is applied in two halves, so that results below 2⁻¹²⁶ and above 2¹²⁷ come out right.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const ExpParts<D> parts(d, clamp(d, x, -105.0f, 90.0f));
  const auto n = hn::Sub(hn::BitCast(di, parts.shifted), hn::Set(di, parts.magic_bits)), half = hn::ShiftRight<1>(n);
  const auto bias = hn::Set(di, 127);
  const V first = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V second = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(n, half), bias)));
  return hn::Mul(hn::Mul(hn::Add(parts.r_minus_one, hn::Set(d, 1.0f)), first), second);
}

// exp(x) for x ≤ 0 with results below 2⁻¹²⁶ flushed to zero: what a softmax needs, with fewer instructions.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of_negative(D d, V x) {
  const ExpParts<D> parts(d, clamp(d, x, -87.3f, 0.0f));
  const V scale = parts.scale(d);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3f)), hn::MulAdd(parts.r_minus_one, scale, scale));
}

// exp(x) − 1, accurate near 0 too, for −80 ≤ x ≤ 80.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_minus_one(D d, V x) {
  const ExpParts<D> parts(d, x);
  const V scale = parts.scale(d);
  return hn::MulAdd(parts.r_minus_one, scale, hn::Sub(scale, hn::Set(d, 1.0f)));
}

// log(2ᵉ m) = e ln 2 + log m with m in [√½, √2); the polynomial is that of the Cephes library.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V zero = hn::Zero(d), smallest = hn::Set(d, 1.17549435e-38f), infinity = hn::Set(d, HUGE_VALF);
  const auto subnormal = hn::Lt(x, smallest);
  const V scaled = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 8388608.0f)), x);
  // Counted from √½, so that the exponent of m's interval is 0.
  const auto bits = hn::Sub(hn::BitCast(di, scaled), hn::Set(di, 0x3f3504f3));
  const auto exponent = hn::ShiftRight<23>(bits);
  const V m = hn::BitCast(d, hn::Sub(hn::BitCast(di, scaled), hn::ShiftLeft<23>(exponent)));
  const V e = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(subnormal, hn::Set(d, 23.0f)));
  const V f = hn::Sub(m, hn::Set(d, 1.0f)), square = hn::Mul(f, f);
  const V p = polynomial(d, f, 3.3333331174e-1f, -2.4999993993e-1f, 2.0000714765e-1f, -1.6668057665e-1f,
                         1.4249322787e-1f, -1.2420140846e-1f, 1.1676998740e-1f, -1.1514610310e-1f, 7.0376836292e-2f);
  V y = hn::Mul(hn::Mul(p, f), square);
  y = hn::MulAdd(e, hn::Set(d, -2.12194440e-4f), y);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), square, y);
  y = hn::MulAdd(e, hn::Set(d, 0.693359375f), hn::Add(f, y));
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, NAN), y);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

// tanh x = t / (t + 2), t = exp(2x) − 1; float's tanh is ±1 beyond the bounds.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  x = clamp(d, x, -9.02f, 9.02f);
  const V t = exp_minus_one(d, hn::Add(x, x));
  return hn::Div(t, hn::Add(t, hn::Set(d, 2.0f)));
}

// 1 / (1 + exp(−x)); exp may overflow to infinity, which gives the 0 that is wanted.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp(d, hn::Neg(x))));
}

// 1 − Φ(x) = ½ erfc(x / √2) = 2^p(x) for 0 ≤ x ≤ 9, with the polynomial for which x (1 − Φ(x)) is nearest: 1.1e-8. Its halves are
// made side by side: one chain of so many steps would be waited for.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_tail(D d, V x) {
  const V x2 = hn::Mul(x, x);
  const V low = polynomial(d, x, -1.0f, -1.15110798f, -0.459180687f, -0.0525850107f);
  const V high =
      polynomial(d, x, 0.00719628782f, -0.000240915679f, -0.000142456635f, 3.00662848e-05f, -2.05025677e-06f);
  return bounded_exp2(d, hn::MulAdd(high, hn::Mul(x2, x2), low));
}

// Φ(x), the normal distribution's integral.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_integral(D d, V x) {
  const V tail = normal_tail(d, at_most(d, hn::Abs(x), 9.0f));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 1.0f), tail), tail);
}

// √(2/π) (x + 0.044715 x³) and its derivative.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_argument(D d, V x) {
  return hn::Mul(x, hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0356774081f), hn::Set(d, 0.797884561f)));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu_argument_slope(D d, V x) {
  return hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.107032224f), hn::Set(d, 0.797884561f));
}

// x where it is positive or NaN, else 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V relu(D d, V x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
}

// x Φ(x) without the digits that 1 − (1 − Φ) would lose.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V gelu(D d, V x) {
  const V size = at_most(d, hn::Abs(x), 9.0f);
  return hn::NegMulAdd(size, normal_tail(d, size), relu(d, x));
}

template <Activation f, class D, class V = hn::Vec<D>>
HWY_INLINE V activated(D d, V x) {
  const V half = hn::Set(d, 0.5f);
  if constexpr (f == Activation::relu) return relu(d, x);
  if constexpr (f == Activation::gelu) return gelu(d, x);
  if constexpr (f == Activation::gelu_tanh) return hn::Mul(x, hn::MulAdd(half, tanh(d, gelu_argument(d, x)), half));
  if constexpr (f == Activation::silu) return hn::Mul(x, sigmoid(d, x));
  if constexpr (f == Activation::tanh) return tanh(d, x);
  if constexpr (f == Activation::sigmoid) return sigmoid(d, x);
  return x;
}

// f'(x)
template <Activation f, class D, class V = hn::Vec<D>>
HWY_INLINE V activated_slope(D d, V x) {
  const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  if constexpr (f == Activation::relu) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), one, hn::IfThenElseZero(hn::IsNaN(x), x));
  } else if constexpr (f == Activation::gelu) {
    // Φ(x) + x φ(x)
    const V density = hn::Mul(hn::Set(d, 0.398942280f), exp(d, hn::Mul(hn::Mul(x, x), hn::Neg(half))));
    return hn::MulAdd(x, density, normal_integral(d, x));
  } else if constexpr (f == Activation::gelu_tanh) {
    const V t = tanh(d, gelu_argument(d, x)), slope = hn::Mul(hn::NegMulAdd(t, t, one), gelu_argument_slope(d, x));
    return hn::Mul(half, hn::MulAdd(x, slope, hn::Add(one, t)));
  } else if constexpr (f == Activation::silu) {
    const V s = sigmoid(d, x);
    return hn::Mul(s, hn::MulAdd(x, hn::Sub(one, s), one));
  } else if constexpr (f == Activation::tanh) {
    const V t = tanh(d, x);
    return hn::NegMulAdd(t, t, one);
  } else if constexpr (f == Activation::sigmoid) {
    const V s = sigmoid(d, x);
    return hn::Mul(s, hn::Sub(one, s));
  } else {
    return one;
  }
}

// Calls body.template operator()<f>() with the activation as a constant.
template <class Body>
HWY_INLINE void with_activation(Activation f, Body&& body) {
  switch (f) {
    case Activation::none:
      return body.template operator()<Activation::none>();
    case Activation::relu:
      return body.template operator()<Activation::relu>();
    case Activation::gelu:
      return body.template operator()<Activation::gelu>();
    case Activation::gelu_tanh:
      return body.template operator()<Activation::gelu_tanh>();
    case Activation::silu:
      return body.template operator()<Activation::silu>();
    case Activation::tanh:
      return body.template operator()<Activation::tanh>();
    case Activation::sigmoid:
      return body.template operator()<Activation::sigmoid>();
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
