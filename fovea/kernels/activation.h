// Activations of feed-forward layers and their gradients, element by element.
//
//   activate(Activation::gelu, count, x, y);                       // y = f(x); y may be x
//   activate_gradient(Activation::gelu, count, x, dy, dx);         // dx = dy · f'(x), x the argument; dx may be dy
#pragma once

#include <cstdint>

#include "fovea/base/activation.h"

namespace fovea::kernels {

using fovea::Activation;

void activate(Activation, int64_t count, const float* x, float* y);
void activate_gradient(Activation, int64_t count, const float* x, const float* dy, float* dx);

}  // namespace fovea::kernels
