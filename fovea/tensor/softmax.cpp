#include "fovea/tensor/softmax.h"

#include <algorithm>
#include <cmath>

#include "fovea/kernels/softmax.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/map.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

struct Rows {
  int64_t rows, width;
};

Rows rows_of(const Tensor& x) { return {x.size(-1) == 0 ? 0 : x.elements() / x.size(-1), x.size(-1)}; }

// Calls f(from, to, width) for each row in f64.
template <class F>
void for_each_row_of(const Rows& shape, const double* x, double* y, F&& f) {
  for (int64_t row = 0; row < shape.rows; ++row) f(x + row * shape.width, y + row * shape.width, shape.width);
}

double largest(const double* x, int64_t width) {
  double m = x[0];
  for (int64_t i = 1; i < width; ++i) m = x[i] > m || x[i] != x[i] ? x[i] : m;
  return m;
}

void softmax_in_double(const double* x, double* y, int64_t width) {
  const double m = largest(x, width);
  if (m == -HUGE_VAL) return void(std::fill_n(y, width, 0.0));
  double sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += y[i] = std::exp(x[i] - m);
  for (int64_t i = 0; i < width; ++i) y[i] /= sum;
}

void log_softmax_in_double(const double* x, double* y, int64_t width) {
  const double m = largest(x, width);
  if (m == -HUGE_VAL) return void(std::fill_n(y, width, -HUGE_VAL));
  double sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += std::exp(x[i] - m);
  for (int64_t i = 0; i < width; ++i) y[i] = x[i] - m - std::log(sum);
}

// Both gradients over the last axis; y is the result.
Tensor softmax_gradient(const Tensor& y, const Tensor& gradient) {
  const Tensor dy = gradient.contiguous();
  Tensor dx(y.shape(), y.dtype());
  const auto [rows, width] = rows_of(y);
  if (y.dtype() == DType::f32) {
    kernels::softmax_gradient({rows, width}, y.data<float>(), dy.data<float>(), dx.data<float>());
    return dx;
  }
  for (int64_t row = 0; row < rows; ++row) {
    const double *p = y.data<double>() + row * width, *g = dy.data<double>() + row * width;
    double* to = dx.data<double>() + row * width;
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += p[i] * g[i];
    for (int64_t i = 0; i < width; ++i) to[i] = p[i] * (g[i] - sum);
  }
  return dx;
}

Tensor log_softmax_gradient(const Tensor& y, const Tensor& gradient) {
  const Tensor dy = gradient.contiguous();
  Tensor dx(y.shape(), y.dtype());
  const auto [rows, width] = rows_of(y);
  if (y.dtype() == DType::f32) {
    kernels::log_softmax_gradient({rows, width}, y.data<float>(), dy.data<float>(), dx.data<float>());
    return dx;
  }
  for (int64_t row = 0; row < rows; ++row) {
    const double *l = y.data<double>() + row * width, *g = dy.data<double>() + row * width;
    double* to = dx.data<double>() + row * width;
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += g[i];
    for (int64_t i = 0; i < width; ++i) to[i] = g[i] - std::exp(l[i]) * sum;
  }
  return dx;
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  axis = x.shape().axis_index(axis);
  if (axis != x.rank() - 1) return softmax(x.transpose(axis, -1)).transpose(axis, -1);
  const Tensor from = x.detach().contiguous();
  Tensor y(x.shape(), x.dtype());
  with_number("softmax", x.dtype(), [&](auto zero) {
    const auto [rows, width] = rows_of(x);
    if constexpr (std::is_same_v<decltype(zero), float>)
      kernels::softmax({rows, width}, from.data<float>(), y.data<float>());
    else
      for_each_row_of({rows, width}, from.data<double>(), y.data<double>(), softmax_in_double);
  });
  if (!needs_gradient(x)) return y;
  return with_gradient("softmax", y, {x}, [y](const Tensor& dy) { return Gradients{softmax_gradient(y, dy)}; });
}

Tensor log_softmax(const Tensor& x, int axis) {
  axis = x.shape().axis_index(axis);
  if (axis != x.rank() - 1) return log_softmax(x.transpose(axis, -1)).transpose(axis, -1);
  const Tensor from = x.detach().contiguous();
  Tensor y(x.shape(), x.dtype());
  with_number("log_softmax", x.dtype(), [&](auto zero) {
    const auto [rows, width] = rows_of(x);
    if constexpr (std::is_same_v<decltype(zero), float>)
      kernels::log_softmax({rows, width}, from.data<float>(), y.data<float>());
    else
      for_each_row_of({rows, width}, from.data<double>(), y.data<double>(), log_softmax_in_double);
  });
  if (!needs_gradient(x)) return y;
  return with_gradient("log_softmax", y, {x}, [y](const Tensor& dy) { return Gradients{log_softmax_gradient(y, dy)}; });
}

Tensor log_odds(const Tensor& x, int64_t i) {
  const int64_t width = x.size(-1);
  require(width > 1 && 0 <= i && i < width, "log_odds: found {} and class {}, expected one of at least two", x.shape(),
          i);
  const Tensor others = concat({x.slice(-1, 0, i), x.slice(-1, i + 1, width)}, -1);
  return x.select(-1, i) - log_sum_exp(others, -1);
}

}  // namespace fovea
