// The usual nonlinearities; gelu is the exact one (with erf), gelu_tanh GPT-2's approximation.
//
//   Tensor y = gelu(x);   Tensor z = activate(Activation::silu, x);
#pragma once

#include "fovea/base/activation.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor activate(Activation, const Tensor& x);
Tensor relu(const Tensor& x);
Tensor gelu(const Tensor& x);
Tensor gelu_tanh(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);

// dy · f′(x) where x is the activation's argument; without a gradient of its own.
Tensor activate_gradient(Activation, const Tensor& x, const Tensor& dy);

}  // namespace fovea
