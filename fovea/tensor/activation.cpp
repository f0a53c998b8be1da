#include "fovea/tensor/activation.h"

#include <cmath>
#include <numbers>

#include "fovea/kernels/activation.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

template <class T>
T logistic(T x) {
  return 1 / (1 + std::exp(-x));
}

constexpr double cubic = 0.044715;  // of gelu's approximation

template <class T>
T tanh_part(T x) {
  return std::tanh(T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (x + T(cubic) * x * x * x));
}

// Calls use(f, slope) with the function and its derivative, both of one element.
template <class Use>
Tensor with_function(Activation a, Use&& use) {
  switch (a) {
    case Activation::none:
      break;
    case Activation::relu:
      return use([](auto x) { return x < 0 ? decltype(x)(0) : x; }, [](auto x) { return decltype(x)(x > 0); });
    case Activation::gelu:  // x Φ(x), Φ(x) + x φ(x)
      return use([](auto x) { return x / 2 * std::erfc(-x * decltype(x)(std::numbers::sqrt2 / 2)); },
                 [](auto x) {
                   using T = decltype(x);
                   const T density = std::exp(-x * x / 2) * T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi / 2);
                   return std::erfc(-x * T(std::numbers::sqrt2 / 2)) / 2 + x * density;
                 });
    case Activation::gelu_tanh:
      return use([](auto x) { return x / 2 * (1 + tanh_part(x)); },
                 [](auto x) {
                   using T = decltype(x);
                   const T t = tanh_part(x);
                   const T inner = T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (1 + 3 * T(cubic) * x * x);
                   return (1 + t) / 2 + x / 2 * (1 - t * t) * inner;
                 });
    case Activation::silu:
      return use([](auto x) { return x * logistic(x); },
                 [](auto x) {
                   const auto s = logistic(x);
                   return s * (1 + x * (1 - s));
                 });
    case Activation::tanh:
      return use([](auto x) { return std::tanh(x); },
                 [](auto x) {
                   const auto t = std::tanh(x);
                   return 1 - t * t;
                 });
    case Activation::sigmoid:
      return use([](auto x) { return logistic(x); },
                 [](auto x) {
                   const auto s = logistic(x);
                   return s * (1 - s);
                 });
  }
  return use([](auto x) { return x; }, [](auto x) { return decltype(x)(1); });
}

}  // namespace

Tensor activate_gradient(Activation activation, const Tensor& x, const Tensor& dy) {
  require_same_type("activation", x, dy);
  if (x.dtype() == DType::f32) {
    const Tensor from = x.detach().contiguous(), gradient = dy.detach().contiguous();
    Tensor dx(x.shape(), x.dtype());
    kernels::activate_gradient(activation, x.elements(), from.data<float>(), gradient.data<float>(), dx.data<float>());
    return dx;
  }
  return with_function(activation, [&](auto, auto slope) {
    return map("activation", x, dy, [slope](auto v, auto g) { return g * slope(v); });
  });
}

Tensor activate(Activation activation, const Tensor& x) {
  if (activation == Activation::none) return x;
  Tensor y;
  if (x.dtype() == DType::f32) {
    const Tensor from = x.detach().contiguous();
    y = Tensor(x.shape(), x.dtype());
    kernels::activate(activation, x.elements(), from.data<float>(), y.data<float>());
  } else {
    y = with_function(activation, [&](auto f, auto) { return map("activation", x, f); });
  }
  if (!needs_gradient(x)) return y;
  return with_gradient("activation", y, {x}, [activation, x = x.detach()](const Tensor& dy) {
    return Gradients{activate_gradient(activation, x, dy)};
  });
}

Tensor relu(const Tensor& x) { return activate(Activation::relu, x); }
Tensor gelu(const Tensor& x) { return activate(Activation::gelu, x); }
Tensor gelu_tanh(const Tensor& x) { return activate(Activation::gelu_tanh, x); }
Tensor silu(const Tensor& x) { return activate(Activation::silu, x); }
Tensor tanh(const Tensor& x) { return activate(Activation::tanh, x); }
Tensor sigmoid(const Tensor& x) { return activate(Activation::sigmoid, x); }

}  // namespace fovea
