#include "fovea/tensor/arithmetic.h"

#include <cmath>
#include <type_traits>

#include "fovea/kernels/elementwise.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

using kernels::Binary;
using kernels::Unary;

const char* name_of(Binary op) {
  switch (op) {
    case Binary::add:
      return "add";
    case Binary::subtract:
      return "subtract";
    case Binary::multiply:
      return "multiply";
    case Binary::divide:
      break;
  }
  return "divide";
}

// A row of one operand, or of the result.
template <class T>
struct Row {
  T* data;
  int64_t step;
};

template <class T>
void combine_row(Binary op, int64_t count, Row<const T> a, Row<const T> b, Row<T> y) {
  if constexpr (std::is_same_v<T, float>) {
    if (y.step == 1 && (a.step | b.step | 1) == 1) {
      return kernels::combine(op, count, {a.data, a.step}, {b.data, b.step}, y.data);
    }
  }
  auto loop = [&](auto f) {
    for (int64_t i = 0; i < count; ++i) y.data[i * y.step] = f(a.data[i * a.step], b.data[i * b.step]);
  };
  switch (op) {
    case Binary::add:
      return loop([](T u, T v) { return u + v; });
    case Binary::subtract:
      return loop([](T u, T v) { return u - v; });
    case Binary::multiply:
      return loop([](T u, T v) { return u * v; });
    case Binary::divide:
      return loop([](T u, T v) { return u / v; });
  }
}

// y = a ∘ b, where a and b are repeated to y's shape; y may be a or b itself.
void combine_into(Binary op, const Tensor& a, const Tensor& b, Tensor& y) {
  const Shape a_strides = broadcast_strides(a.shape(), a.strides(), y.shape());
  const Shape b_strides = broadcast_strides(b.shape(), b.strides(), y.shape());
  with_number(name_of(op), y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *p = a.data<T>(), *q = b.data<T>();
    T* to = y.data<T>();
    for_each_row<3>(y.shape(), {y.strides(), a_strides, b_strides},
                    [&](const auto& at, int64_t count, const auto& step) {
                      combine_row<T>(op, count, {p + at[1], step[1]}, {q + at[2], step[2]}, {to + at[0], step[0]});
                    });
  });
}

Tensor combine(Binary op, const Tensor& a, const Tensor& b) {
  require_same_type(name_of(op), a, b);
  Tensor y(a.shape() == b.shape() ? a.shape() : broadcast(a.shape(), b.shape(), name_of(op)), a.dtype());
  combine_into(op, a, b, y);
  return y;
}

// A number as the other operand of x.
Tensor constant(double value, const Tensor& x) {
  Tensor c({}, x.dtype());
  with_number("arithmetic", x.dtype(), [&](auto zero) { *c.data<decltype(zero)>() = decltype(zero)(value); });
  return c;
}

template <class F>
Tensor apply(Unary op, const char* name, const Tensor& x, F in_double) {
  if (x.dtype() != DType::f32) return map(name, x, in_double);
  const Tensor from = x.detach().contiguous();
  Tensor y(x.shape(), x.dtype());
  kernels::apply(op, y.elements(), from.data<float>(), y.data<float>());
  return y;
}

template <class Choose>
Tensor extremum(const char* name, const Tensor& a, const Tensor& b, Choose choose) {
  Tensor y = map(name, a, b, choose);
  if (!needs_gradient(a, b)) return y;
  return with_gradient(name, y, {a, b}, [a = a.detach(), b = b.detach(), y](const Tensor& dy) {
    auto share = [&](const Tensor& mine, const Tensor& other) {
      Tensor part = map("share", mine, other, [](auto u, auto v) -> decltype(u) { return u == v ? 0.5 : 1; });
      Tensor chosen = map("chosen", mine, y, [](auto u, auto v) -> decltype(u) { return u == v || v != v; });
      return sum_to(dy * part * chosen, mine.shape());
    };
    return Gradients{share(a, b), share(b, a)};
  });
}

template <class T>
void choose_rows(const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& y) {
  const Shape& shape = y.shape();
  const int8_t* c = condition.data<int8_t>();
  const T *p = a.data<T>(), *q = b.data<T>();
  T* to = y.data<T>();
  for_each_row<4>(shape,
                  {y.strides(), broadcast_strides(condition.shape(), condition.strides(), shape),
                   broadcast_strides(a.shape(), a.strides(), shape), broadcast_strides(b.shape(), b.strides(), shape)},
                  [&](const auto& at, int64_t count, const auto& step) {
                    for (int64_t i = 0; i < count; ++i) {
                      const bool first = c[at[1] + i * step[1]] != 0;
                      to[at[0] + i * step[0]] = first ? p[at[2] + i * step[2]] : q[at[3] + i * step[3]];
                    }
                  });
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) {
  Tensor y = combine(Binary::add, a, b);
  if (!needs_gradient(a, b)) return y;
  return with_gradient("add", y, {a, b}, [p = a.shape(), q = b.shape()](const Tensor& dy) {
    return Gradients{sum_to(dy, p), sum_to(dy, q)};
  });
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  Tensor y = combine(Binary::subtract, a, b);
  if (!needs_gradient(a, b)) return y;
  return with_gradient(
      "subtract", y, {a, b},
      [p = a.shape(), q = b.shape(), first = a.needs_gradient(), second = b.needs_gradient()](const Tensor& dy) {
        return Gradients{first ? sum_to(dy, p) : Tensor(), second ? -sum_to(dy, q) : Tensor()};
      });
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  Tensor y = combine(Binary::multiply, a, b);
  if (!needs_gradient(a, b)) return y;
  return with_gradient(
      "multiply", y, {a, b},
      [a = a.detach(), b = b.detach(), first = a.needs_gradient(), second = b.needs_gradient()](const Tensor& dy) {
        return Gradients{first ? sum_to(dy * b, a.shape()) : Tensor(), second ? sum_to(dy * a, b.shape()) : Tensor()};
      });
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  Tensor y = combine(Binary::divide, a, b);
  if (!needs_gradient(a, b)) return y;
  return with_gradient("divide", y, {a, b},
                       [shape = a.shape(), b = b.detach(), y, first = a.needs_gradient(),
                        second = b.needs_gradient()](const Tensor& dy) {
                         Tensor quotient = dy / b;
                         return Gradients{first ? sum_to(quotient, shape) : Tensor(),
                                          second ? -sum_to(quotient * y, b.shape()) : Tensor()};
                       });
}

Tensor operator-(const Tensor& x) { return x * -1.0; }

Tensor operator+(const Tensor& x, double c) {
  Tensor y = combine(Binary::add, x, constant(c, x));
  if (!needs_gradient(x)) return y;
  return with_gradient("add", y, {x}, [](const Tensor& dy) { return Gradients{dy}; });
}

Tensor operator-(const Tensor& x, double c) {
  Tensor y = combine(Binary::subtract, x, constant(c, x));
  if (!needs_gradient(x)) return y;
  return with_gradient("subtract", y, {x}, [](const Tensor& dy) { return Gradients{dy}; });
}

Tensor operator*(const Tensor& x, double c) {
  Tensor y = combine(Binary::multiply, x, constant(c, x));
  if (!needs_gradient(x)) return y;
  return with_gradient("multiply", y, {x}, [c](const Tensor& dy) { return Gradients{dy * c}; });
}

Tensor operator/(const Tensor& x, double c) {
  Tensor y = combine(Binary::divide, x, constant(c, x));
  if (!needs_gradient(x)) return y;
  return with_gradient("divide", y, {x}, [c](const Tensor& dy) { return Gradients{dy / c}; });
}

Tensor operator+(double c, const Tensor& x) { return x + c; }

Tensor operator-(double c, const Tensor& x) {
  Tensor y = combine(Binary::subtract, constant(c, x), x);
  if (!needs_gradient(x)) return y;
  return with_gradient("subtract", y, {x}, [](const Tensor& dy) { return Gradients{-dy}; });
}

Tensor operator*(double c, const Tensor& x) { return x * c; }

Tensor operator/(double c, const Tensor& x) {
  Tensor y = combine(Binary::divide, constant(c, x), x);
  if (!needs_gradient(x)) return y;
  return with_gradient("divide", y, {x}, [x = x.detach(), y](const Tensor& dy) { return Gradients{-(dy * y / x)}; });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  return extremum("maximum", a, b, [](auto u, auto v) { return u > v || u != u ? u : v; });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  return extremum("minimum", a, b, [](auto u, auto v) { return u < v || u != u ? u : v; });
}

Tensor exp(const Tensor& x) {
  Tensor y = apply(Unary::exp, "exp", x, [](auto v) { return std::exp(v); });
  if (!needs_gradient(x)) return y;
  return with_gradient("exp", y, {x}, [y](const Tensor& dy) { return Gradients{dy * y}; });
}

Tensor log(const Tensor& x) {
  Tensor y = apply(Unary::log, "log", x, [](auto v) { return std::log(v); });
  if (!needs_gradient(x)) return y;
  return with_gradient("log", y, {x}, [x = x.detach()](const Tensor& dy) { return Gradients{dy / x}; });
}

Tensor sqrt(const Tensor& x) {
  Tensor y = apply(Unary::sqrt, "sqrt", x, [](auto v) { return std::sqrt(v); });
  if (!needs_gradient(x)) return y;
  return with_gradient("sqrt", y, {x}, [y](const Tensor& dy) { return Gradients{dy / (y * 2.0)}; });
}

Tensor abs(const Tensor& x) {
  Tensor y = map("abs", x, [](auto v) { return std::abs(v); });
  if (!needs_gradient(x)) return y;
  return with_gradient("abs", y, {x}, [x = x.detach()](const Tensor& dy) {
    return Gradients{map("abs", x, dy, [](auto v, auto g) -> decltype(v) { return v > 0 ? g : v < 0 ? -g : v * 0; })};
  });
}

Tensor power(const Tensor& x, double exponent) {
  Tensor y = map("power", x, [exponent](auto v) { return std::pow(v, static_cast<decltype(v)>(exponent)); });
  if (!needs_gradient(x)) return y;
  return with_gradient("power", y, {x}, [x = x.detach(), exponent](const Tensor& dy) {
    if (exponent == 0) return Gradients{zeros(x.shape(), x.dtype())};
    return Gradients{dy * (power(x, exponent - 1) * exponent)};
  });
}

Tensor clamp(const Tensor& x, double low, double high) {
  require(low <= high, "clamp: found {} to {}, expected a lower bound that is not above the upper one", low, high);
  auto clamped = [low, high](auto v) {
    using T = decltype(v);
    return v < T(low) ? T(low) : v > T(high) ? T(high) : v;
  };
  Tensor y = map("clamp", x, clamped);
  if (!needs_gradient(x)) return y;
  return with_gradient("clamp", y, {x}, [x = x.detach(), clamped](const Tensor& dy) {
    auto passes = [clamped](auto v, auto g) { return clamped(v) == v || v != v ? g : decltype(v)(0); };
    return Gradients{map("clamp", x, dy, passes)};
  });
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  require(condition.dtype() == DType::i8, "where: found a condition of type {}, expected I8", name(condition.dtype()));
  require_same_type("where", a, b);
  Tensor y(broadcast(condition.shape(), broadcast(a.shape(), b.shape(), "where"), "where"), a.dtype());
  with_type(a.dtype(), [&](auto* of) { choose_rows<std::remove_pointer_t<decltype(of)>>(condition, a, b, y); });
  if (!needs_gradient(a, b)) return y;
  return with_gradient("where", y, {a, b},
                       [condition, p = a.shape(), q = b.shape(), first = a.needs_gradient(),
                        second = b.needs_gradient()](const Tensor& dy) {
                         const Tensor zero = zeros({}, dy.dtype());
                         return Gradients{first ? sum_to(where(condition, dy, zero), p) : Tensor(),
                                          second ? sum_to(where(condition, zero, dy), q) : Tensor()};
                       });
}

void add_into(Tensor& sum, const Tensor& x) {
  require_same_type("add_into", sum, x);
  require(broadcast(sum.shape(), x.shape(), "add_into") == sum.shape(),
          "add_into: found {}, expected a shape that repeats to {}", x.shape(), sum.shape());
  combine_into(Binary::add, sum, x, sum);
}

}  // namespace fovea
