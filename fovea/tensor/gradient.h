// How an operation gets its gradient: compute the result, then attach what leads back from it.
//
//   Tensor y = exp_of(x);                                               // numbers only
//   return with_gradient("exp", y, {x}, [y](const Tensor& dy) { return Gradients{dy * y}; });
//
// The function gets the gradient of the result and returns one for each input, in their order and shapes; an empty
// Tensor stands for none. Nothing is kept if no input needs a gradient. Capture results as they are before
// with_gradient attaches the tape (as `y` above): a captured result that held its own tape would keep itself alive.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

using Gradients = std::vector<Tensor>;

Tensor with_gradient(const char* name, const Tensor& result, std::vector<Tensor> inputs,
                     std::function<Gradients(const Tensor&)> backward);

// The same for an operation with several results. A result that nothing depended on comes in as an empty Tensor.
std::vector<Tensor> with_gradient(const char* name, const std::vector<Tensor>& results, std::vector<Tensor> inputs,
                                  std::function<Gradients(std::span<const Tensor>)> backward);

// True if the tape would be kept: an operation asks before it saves what only its gradient needs.
bool any_needs_gradient(std::span<const Tensor> tensors);

template <class... Tensors>
bool needs_gradient(const Tensors&... tensors) {
  return (tensors.needs_gradient() || ...);
}

// What a broadcast spread is summed up again:  gradient of shape `from` → `shape`, in a fixed order.
Tensor sum_to(const Tensor& gradient, const Shape& shape);

}  // namespace fovea
