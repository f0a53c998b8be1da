// A function of each element, or of each pair of elements, written once for f32 and f64 and without a gradient.
//
//   Tensor y = map("exp", x, [](auto v) { return std::exp(v); });
//   Tensor z = map("maximum", a, b, [](auto p, auto q) { return p > q ? p : q; });     // broadcasting
#pragma once

#include <utility>

#include "fovea/base/error.h"
#include "fovea/tensor/strided.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Calls f with a number of the type that arithmetic on `type` runs in:
//   with_number("exp", x.dtype(), [&](auto zero) { using T = decltype(zero); … });
template <class F>
decltype(auto) with_number(const char* operation, DType type, F&& f) {
  if (type == DType::f32) return f(float{});
  require(type == DType::f64, "{}: found numbers of type {}, expected F32 or F64", operation, name(type));
  return f(double{});
}

inline void require_same_type(const char* operation, const Tensor& a, const Tensor& b) {
  require(a.dtype() == b.dtype(), "{}: found {} and {}, expected two tensors of one type", operation, name(a.dtype()),
          name(b.dtype()));
}

template <class F>
Tensor map(const char* operation, const Tensor& x, F f) {
  Tensor y(x.shape(), x.dtype());
  with_number(operation, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    for_each_row<2>(y.shape(), {y.strides(), x.strides()}, [&](const auto& at, int64_t count, const auto& step) {
      T* out = to + at[0];
      const T* in = from + at[1];
      if (step[0] == 1 && step[1] == 1) {
        for (int64_t i = 0; i < count; ++i) out[i] = f(in[i]);
      } else {
        for (int64_t i = 0; i < count; ++i) out[i * step[0]] = f(in[i * step[1]]);
      }
    });
  });
  return y;
}

template <class F>
Tensor map(const char* operation, const Tensor& a, const Tensor& b, F f) {
  require_same_type(operation, a, b);
  Tensor y(broadcast(a.shape(), b.shape(), operation), a.dtype());
  const Shape a_strides = broadcast_strides(a.shape(), a.strides(), y.shape());
  const Shape b_strides = broadcast_strides(b.shape(), b.strides(), y.shape());
  with_number(operation, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *p = a.data<T>(), *q = b.data<T>();
    T* to = y.data<T>();
    for_each_row<3>(y.shape(), {y.strides(), a_strides, b_strides},
                    [&](const auto& at, int64_t count, const auto& step) {
                      T* out = to + at[0];
                      const T *u = p + at[1], *v = q + at[2];
                      if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
                        for (int64_t i = 0; i < count; ++i) out[i] = f(u[i], v[i]);
                      } else {
                        for (int64_t i = 0; i < count; ++i) out[i * step[0]] = f(u[i * step[1]], v[i * step[2]]);
                      }
                    });
  });
  return y;
}

}  // namespace fovea
