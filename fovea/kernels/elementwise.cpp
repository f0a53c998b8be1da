#include "fovea/kernels/elementwise.h"

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One element's result is a single rounded operation, so the scalar tail gives the same bits as the vectors.
template <class Vector, class Scalar>
HWY_INLINE void loop(int64_t count, const Operand& a, const Operand& b, float* y, const Vector& vector,
                     const Scalar& scalar) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float *p = a.data, *q = b.data;
  int64_t i = 0;
  if (a.step == 1 && b.step == 1) {
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const auto first = vector(hn::LoadU(d, p + i), hn::LoadU(d, q + i));
      const auto second = vector(hn::LoadU(d, p + i + lanes), hn::LoadU(d, q + i + lanes));
      hn::StoreU(first, d, y + i);
      hn::StoreU(second, d, y + i + lanes);
    }
  } else if (a.step == 1 && count > 0) {
    const auto v = hn::Set(d, q[0]);
    for (; i + lanes <= count; i += lanes) hn::StoreU(vector(hn::LoadU(d, p + i), v), d, y + i);
  } else if (b.step == 1 && count > 0) {
    const auto v = hn::Set(d, p[0]);
    for (; i + lanes <= count; i += lanes) hn::StoreU(vector(v, hn::LoadU(d, q + i)), d, y + i);
  }
  for (; i < count; ++i) y[i] = scalar(p[i * a.step], q[i * b.step]);
}

void combine_rows(Binary op, int64_t count, const Operand& a, const Operand& b, float* y) {
  switch (op) {
    case Binary::add:
      return loop(
          count, a, b, y, [](auto u, auto v) HWY_ATTR { return hn::Add(u, v); },
          [](float u, float v) { return u + v; });
    case Binary::subtract:
      return loop(
          count, a, b, y, [](auto u, auto v) HWY_ATTR { return hn::Sub(u, v); },
          [](float u, float v) { return u - v; });
    case Binary::multiply:
      return loop(
          count, a, b, y, [](auto u, auto v) HWY_ATTR { return hn::Mul(u, v); },
          [](float u, float v) { return u * v; });
    case Binary::divide:
      return loop(
          count, a, b, y, [](auto u, auto v) HWY_ATTR { return hn::Div(u, v); },
          [](float u, float v) { return u / v; });
  }
}

template <class F>
HWY_INLINE void apply_to_all(int64_t count, const float* x, float* y, const F& f) {
  for_each_vector(count, [&](int64_t i, auto part) HWY_ATTR { part.store(f(part.load(x + i)), y + i); });
}

void apply_range(Unary op, int64_t count, const float* x, float* y) {
  const RowTag d;
  switch (op) {
    case Unary::exp:
      return apply_to_all(count, x, y, [&](RowVector v) HWY_ATTR { return exp(d, v); });
    case Unary::log:
      return apply_to_all(count, x, y, [&](RowVector v) HWY_ATTR { return log(d, v); });
    case Unary::sqrt:
      return apply_to_all(count, x, y, [&](RowVector v) HWY_ATTR { return hn::Sqrt(v); });
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(apply_range);
void apply(Unary op, int64_t count, const float* x, float* y) {
  constexpr int64_t grain = 16384;  // elements that are worth another thread
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(apply_range)(op, end - begin, x + begin, y + begin);
  });
}

HWY_EXPORT(combine_rows);
void combine(Binary op, int64_t count, const Operand& a, const Operand& b, float* y) {
  HWY_DYNAMIC_DISPATCH(combine_rows)(op, count, a, b, y);
}

}  // namespace fovea::kernels
#endif
