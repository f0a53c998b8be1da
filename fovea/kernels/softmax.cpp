#include "fovea/kernels/softmax.h"

#include <cmath>
#include <limits>

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Extent {
  float largest;
  bool has_nan;
};

// The maximum of what is a number; NaN is looked for apart, since Max may drop it.
HWY_INLINE Extent extent(int64_t width, const float* x) {
  const RowTag d;
  const hn::RebindToUnsigned<RowTag> du;
  const RowVector lowest = hn::Set(d, -HUGE_VALF);
  RowVector m0 = lowest, m1 = lowest, nan = hn::Zero(d);
  const int64_t lanes = row_lanes();
  int64_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    const RowVector a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + lanes);
    m0 = hn::Max(m0, a), m1 = hn::Max(m1, b);
    nan = hn::Or(nan, hn::Or(hn::VecFromMask(d, hn::IsNaN(a)), hn::VecFromMask(d, hn::IsNaN(b))));
  }
  for (; i < width; i += lanes) {
    const PartOfVector part = {width - i < lanes ? width - i : lanes};
    const RowVector a = hn::IfThenElse(part.mask(), part.load(x + i), lowest);
    m0 = hn::Max(m0, a);
    nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(a)));
  }
  const bool has_nan = !hn::AllTrue(du, hn::Eq(hn::BitCast(du, nan), hn::Zero(du)));
  return {hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1))), has_nan};
}

// Σ e^(x − shift), and the terms themselves into y.
HWY_INLINE float exp_sum(int64_t width, const float* x, float shift, float* y) {
  const RowTag d;
  const RowVector m = hn::Set(d, shift);
  return sum_of_terms(width, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector e = exp_of_negative(d, hn::Sub(part.load(x + i), m));
    part.store(e, y + i);
    return e;
  });
}

HWY_INLINE float exp_sum(int64_t width, const float* x, float shift) {
  const RowTag d;
  const RowVector m = hn::Set(d, shift);
  return sum_of_terms(width,
                      [&](int64_t i, auto part) HWY_ATTR { return exp_of_negative(d, hn::Sub(part.load(x + i), m)); });
}

HWY_INLINE void fill(int64_t width, float value, float* y) {
  for (int64_t i = 0; i < width; ++i) y[i] = value;
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// True if the row has a usual maximum; otherwise y is filled with what the row gives.
HWY_INLINE bool usual(const Extent& e, int64_t width, float value_of_nothing, float* y) {
  if (e.has_nan || e.largest == HUGE_VALF) {
    fill(width, not_a_number, y);
    return false;
  }
  if (e.largest == -HUGE_VALF) {
    fill(width, value_of_nothing, y);
    return false;
  }
  return true;
}

void softmax_row(int64_t width, const float* x, float* y) {
  const Extent e = extent(width, x);
  if (!usual(e, width, 0.0f, y)) return;
  const RowVector scale = hn::Set(RowTag(), 1.0f / exp_sum(width, x, e.largest, y));
  for_each_vector(width, [&](int64_t i, auto part) HWY_ATTR { part.store(hn::Mul(part.load(y + i), scale), y + i); });
}

void log_softmax_row(int64_t width, const float* x, float* y) {
  const Extent e = extent(width, x);
  if (!usual(e, width, -HUGE_VALF, y)) return;
  const RowTag d;
  const RowVector m = hn::Set(d, e.largest), l = hn::Set(d, std::log(exp_sum(width, x, e.largest)));
  for_each_vector(width,
                  [&](int64_t i, auto part) HWY_ATTR { part.store(hn::Sub(hn::Sub(part.load(x + i), m), l), y + i); });
}

void log_sum_exp_row(int64_t width, const float* x, float* sum) {
  const Extent e = extent(width, x);
  if (e.has_nan)
    *sum = not_a_number;
  else if (std::isinf(e.largest))
    *sum = e.largest;
  else
    *sum = e.largest + std::log(exp_sum(width, x, e.largest));
}

void softmax_gradient_row(int64_t width, const float* y, const float* dy, float* dx) {
  const float sum =
      sum_of_terms(width, [&](int64_t i, auto part) HWY_ATTR { return hn::Mul(part.load(y + i), part.load(dy + i)); });
  const RowVector mean = hn::Set(RowTag(), sum);
  for_each_vector(width, [&](int64_t i, auto part) HWY_ATTR {
    part.store(hn::Mul(part.load(y + i), hn::Sub(part.load(dy + i), mean)), dx + i);
  });
}

void log_softmax_gradient_row(int64_t width, const float* y, const float* dy, float* dx) {
  const RowTag d;
  const RowVector total =
      hn::Set(d, sum_of_terms(width, [&](int64_t i, auto part) HWY_ATTR { return part.load(dy + i); }));
  for_each_vector(width, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector p = exp_of_negative(d, part.load(y + i));
    part.store(hn::NegMulAdd(p, total, part.load(dy + i)), dx + i);
  });
}

// With the row's sum, scale and spread.
void difference_row(int64_t width, const float* x, const float* numbers, float* dx) {
  const RowTag d;
  const RowVector shift = hn::Set(d, numbers[0]), scale = hn::Set(d, numbers[1]), spread = hn::Set(d, numbers[2]);
  for_each_vector(width, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector p = exp_of_negative(d, hn::Sub(part.load(x + i), shift));
    part.store(hn::Mul(scale, hn::Sub(p, spread)), dx + i);
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(softmax_row);
HWY_EXPORT(log_softmax_row);
HWY_EXPORT(log_sum_exp_row);
HWY_EXPORT(softmax_gradient_row);
HWY_EXPORT(log_softmax_gradient_row);
HWY_EXPORT(difference_row);

constexpr int64_t grain = 8192;  // elements that are worth another thread

template <class Body>
void for_each_row(const SoftmaxShape& shape, const Body& body) {
  if (shape.width == 0) return;
  parallel_ranges(shape.rows, 1 + grain / shape.width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) body(row, row * shape.width);
  });
}

}  // namespace

void softmax(const SoftmaxShape& shape, const float* x, float* y) {
  for_each_row(shape, [&](int64_t, int64_t at) { HWY_DYNAMIC_DISPATCH(softmax_row)(shape.width, x + at, y + at); });
}

void log_softmax(const SoftmaxShape& shape, const float* x, float* y) {
  for_each_row(shape, [&](int64_t, int64_t at) { HWY_DYNAMIC_DISPATCH(log_softmax_row)(shape.width, x + at, y + at); });
}

void log_sum_exp(const SoftmaxShape& shape, const float* x, float* sums) {
  for_each_row(shape, [&](int64_t row, int64_t at) {
    HWY_DYNAMIC_DISPATCH(log_sum_exp_row)(shape.width, x + at, sums + row);
  });
}

void softmax_gradient(const SoftmaxShape& shape, const float* y, const float* dy, float* dx) {
  for_each_row(shape, [&](int64_t, int64_t at) {
    HWY_DYNAMIC_DISPATCH(softmax_gradient_row)(shape.width, y + at, dy + at, dx + at);
  });
}

void log_softmax_gradient(const SoftmaxShape& shape, const float* y, const float* dy, float* dx) {
  for_each_row(shape, [&](int64_t, int64_t at) {
    HWY_DYNAMIC_DISPATCH(log_softmax_gradient_row)(shape.width, y + at, dy + at, dx + at);
  });
}

void softmax_difference(const SoftmaxShape& shape, const float* x, const float* sums, const float* scale, float spread,
                        float* dx) {
  for_each_row(shape, [&](int64_t row, int64_t at) {
    const float numbers[] = {sums[row], scale[row], spread};
    HWY_DYNAMIC_DISPATCH(difference_row)(shape.width, x + at, numbers, dx + at);
  });
}

}  // namespace fovea::kernels
#endif
