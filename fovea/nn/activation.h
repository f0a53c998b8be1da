// Activations by the names that configs use: relu, gelu, gelu-tanh, silu, tanh, sigmoid, none, and what Hugging Face calls them:
// gelu_new, gelu_fast and gelu_pytorch_tanh, gelu_python, swish, linear.
//
//   Tensor y = linear(x, activation_named("gelu-tanh"));
#pragma once

#include <string_view>

#include "fovea/base/activation.h"

namespace fovea {

Activation activation_named(std::string_view name);  // an Error that suggests the nearest if there is none

}  // namespace fovea
