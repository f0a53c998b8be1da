// Activations of feed-forward layers and their gradients, element by element.
//
//   activate(Activation::gelu, count, x, y);                       // y = f(x); y may be x
//   activate_gradient(Activation::gelu, count, x, dy, dx);         // dx = dy · f'(x), x the argument; dx may be dy
#pragma once

#include <cstdint>

namespace fovea::kernels {

// gelu: x Φ(x) (Hendrycks and Gimpel 2016); gelu_tanh: its approximation ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)));
// silu: x σ(x).
enum class Activation { none, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

void activate(Activation, int64_t count, const float* x, float* y);
void activate_gradient(Activation, int64_t count, const float* x, const float* dy, float* dx);

}  // namespace fovea::kernels
