// Which activation a layer has; kernels, tensors and modules share the names.
//
//   Tensor y = linear(x, weight, bias, Activation::gelu);
#pragma once

namespace fovea {

// gelu: x Φ(x) (Hendrycks and Gimpel 2016); gelu_tanh: its approximation ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)));
// silu: x σ(x).
enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

}  // namespace fovea
