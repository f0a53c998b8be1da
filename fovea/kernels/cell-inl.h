// The LSTM and the GRU cell on one row of `width` elements, after the products with the weights.
//
//   lstm_forward(width, {.gates = g, .bias = b, …});                     // gates: W x + U h, then the values of i, f, g, o
#if defined(FOVEA_KERNELS_CELL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_CELL_INL_H_
#undef FOVEA_KERNELS_CELL_INL_H_
#else
#define FOVEA_KERNELS_CELL_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/rows-inl.h"

#ifndef FOVEA_KERNELS_CELL_ONCE
#define FOVEA_KERNELS_CELL_ONCE
namespace fovea::kernels {

// The gates of one step of one item stand behind one another, `width` floats each: i, f, g, o of an LSTM. A GRU has r,
// z, the part of n that comes from x, and the part that comes from h.
struct CellForward {
  float* gates;  // in: with `bias` added the arguments of the gates; out: their values, of a GRU r, z, n and
                 // U h + b of n
  const float* bias;
  const float *hidden, *cell;  // the state before the step; a GRU has no cell
  float *next_hidden, *next_cell, *y;
  int64_t ahead;  // floats from these gates to the next item's
};

struct CellBackward {
  const float *gates, *hidden, *cell;  // as the forward pass left them
  const float *dy, *dhidden;           // of the output and of the state after the step; either may be nothing
  float* dcarried;  // in and out: what an LSTM's cell, or a GRU's state, passes from step to step without a product
  float* dgates;    // of the gates' arguments, in the same order
  int64_t ahead;    // floats from these gates to the next item's
};

}  // namespace fovea::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 1 + exp(−x), the denominator of σ(x). Beyond ±40 σ(x) is as good as 0 or 1, and the product of two denominators is
// finite.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_denominator(D d, V x) {
  const ExpParts<D> parts(d, hn::Neg(clamp(d, x, -40.0f, 40.0f)));
  const V scale = parts.scale(d);
  return hn::Add(hn::Set(d, 1.0f), hn::MulAdd(parts.r_minus_one, scale, scale));
}

// Two fractions by one division, since that is the slowest instruction here: a / p and b / q from 1 / (p q).
template <class D, class V = hn::Vec<D>>
struct TwoFractions {
  V first, second;
  HWY_INLINE TwoFractions(D d, V a, V p, V b, V q) {
    const V both = hn::Div(hn::Set(d, 1.0f), hn::Mul(p, q));
    first = hn::Mul(a, hn::Mul(both, q)), second = hn::Mul(b, hn::Mul(both, p));
  }
};

// The next row's cache lines are asked for while this row is computed; `ahead` floats lie between them.
HWY_INLINE void prefetch_gates(const float* gates, int64_t width, int64_t ahead) {
  for (int64_t gate = 0; gate < 4; ++gate) __builtin_prefetch(gates + gate * width + ahead);
}

HWY_INLINE void lstm_forward(int64_t width, const CellForward& c) {
  const hn::ScalableTag<float> d;
  for_each_vector(width, [&](int64_t j, auto part) HWY_ATTR {
    auto argument = [&](int64_t gate) HWY_ATTR {
      return hn::Add(part.load(c.gates + gate * width + j), part.load(c.bias + gate * width + j));
    };
    const auto one = hn::Set(d, 1.0f);
    prefetch_gates(c.gates + j, width, c.ahead);
    const TwoFractions<hn::ScalableTag<float>> input_forget(d, one, sigmoid_denominator(d, argument(0)), one,
                                                            sigmoid_denominator(d, argument(1)));
    const auto t = exp_minus_one(d, clamp(d, hn::Add(argument(2), argument(2)), -18.04f, 18.04f));
    const TwoFractions<hn::ScalableTag<float>> candidate_output(d, t, hn::Add(t, hn::Set(d, 2.0f)), one,
                                                                sigmoid_denominator(d, argument(3)));
    const auto i = input_forget.first, f = input_forget.second, g = candidate_output.first, o = candidate_output.second;
    const auto cell = hn::MulAdd(f, part.load(c.cell + j), hn::Mul(i, g)), hidden = hn::Mul(o, tanh(d, cell));
    part.store(i, c.gates + j), part.store(f, c.gates + width + j);
    part.store(g, c.gates + 2 * width + j), part.store(o, c.gates + 3 * width + j);
    part.store(cell, c.next_cell + j), part.store(hidden, c.next_hidden + j), part.store(hidden, c.y + j);
  });
}

HWY_INLINE void lstm_backward(int64_t width, const CellBackward& c) {
  const hn::ScalableTag<float> d;
  const auto one = hn::Set(d, 1.0f);
  for_each_vector(width, [&](int64_t j, auto part) HWY_ATTR {
    prefetch_gates(c.gates + j, width, c.ahead), prefetch_gates(c.dgates + j, width, c.ahead);
    const auto i = part.load(c.gates + j), f = part.load(c.gates + width + j);
    const auto g = part.load(c.gates + 2 * width + j), o = part.load(c.gates + 3 * width + j);
    const auto before = part.load(c.cell + j), squashed = tanh(d, hn::MulAdd(f, before, hn::Mul(i, g)));
    auto dh = c.dhidden ? part.load(c.dhidden + j) : hn::Zero(d);
    if (c.dy) dh = hn::Add(dh, part.load(c.dy + j));
    const auto through = hn::Mul(hn::Mul(dh, o), hn::NegMulAdd(squashed, squashed, one));
    const auto dc = hn::Add(part.load(c.dcarried + j), through);
    part.store(hn::Mul(hn::Mul(dc, g), hn::Mul(i, hn::Sub(one, i))), c.dgates + j);
    part.store(hn::Mul(hn::Mul(dc, before), hn::Mul(f, hn::Sub(one, f))), c.dgates + width + j);
    part.store(hn::Mul(hn::Mul(dc, i), hn::NegMulAdd(g, g, one)), c.dgates + 2 * width + j);
    part.store(hn::Mul(hn::Mul(dh, squashed), hn::Mul(o, hn::Sub(one, o))), c.dgates + 3 * width + j);
    part.store(hn::Mul(dc, f), c.dcarried + j);
  });
}

HWY_INLINE void gru_forward(int64_t width, const CellForward& c) {
  const hn::ScalableTag<float> d;
  for_each_vector(width, [&](int64_t j, auto part) HWY_ATTR {
    auto argument = [&](int64_t gate) HWY_ATTR {
      return hn::Add(part.load(c.gates + gate * width + j), part.load(c.bias + gate * width + j));
    };
    const auto one = hn::Set(d, 1.0f);
    prefetch_gates(c.gates + j, width, c.ahead);
    const TwoFractions<hn::ScalableTag<float>> reset_update(d, one, sigmoid_denominator(d, argument(0)), one,
                                                            sigmoid_denominator(d, argument(1)));
    const auto r = reset_update.first, z = reset_update.second, u = argument(3);
    const auto n = tanh(d, hn::MulAdd(r, u, argument(2)));
    const auto hidden = hn::MulAdd(z, hn::Sub(part.load(c.hidden + j), n), n);
    part.store(r, c.gates + j), part.store(z, c.gates + width + j);
    part.store(n, c.gates + 2 * width + j), part.store(u, c.gates + 3 * width + j);
    part.store(hidden, c.next_hidden + j), part.store(hidden, c.y + j);
  });
}

HWY_INLINE void gru_backward(int64_t width, const CellBackward& c) {
  const hn::ScalableTag<float> d;
  const auto one = hn::Set(d, 1.0f);
  for_each_vector(width, [&](int64_t j, auto part) HWY_ATTR {
    prefetch_gates(c.gates + j, width, c.ahead), prefetch_gates(c.dgates + j, width, c.ahead);
    const auto r = part.load(c.gates + j), z = part.load(c.gates + width + j);
    const auto n = part.load(c.gates + 2 * width + j), u = part.load(c.gates + 3 * width + j);
    auto dh = part.load(c.dcarried + j);
    if (c.dhidden) dh = hn::Add(dh, part.load(c.dhidden + j));
    if (c.dy) dh = hn::Add(dh, part.load(c.dy + j));
    const auto dn = hn::Mul(hn::Mul(dh, hn::Sub(one, z)), hn::NegMulAdd(n, n, one));
    const auto dz = hn::Mul(hn::Mul(dh, hn::Sub(part.load(c.hidden + j), n)), hn::Mul(z, hn::Sub(one, z)));
    const auto dr = hn::Mul(hn::Mul(dn, u), hn::Mul(r, hn::Sub(one, r)));
    part.store(dr, c.dgates + j), part.store(dz, c.dgates + width + j);
    part.store(dn, c.dgates + 2 * width + j), part.store(hn::Mul(dn, r), c.dgates + 3 * width + j);
    part.store(hn::Mul(dh, z), c.dcarried + j);
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
