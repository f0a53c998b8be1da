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
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

using Gradients = std::vector<Tensor>;
using Backward = std::function<Gradients(std::span<const Tensor>)>;

// For an operation with several results; `backward` gets an empty Tensor for a result that nothing depended on.
std::vector<Tensor> with_gradient(const char* name, std::vector<Tensor> results, std::span<const Tensor> inputs,
                                  Backward backward);

Tensor with_gradient_of_one(const char* name, Tensor result, std::span<const Tensor> inputs, Backward backward);

template <class F>
requires std::is_invocable_r_v<Gradients, F, const Tensor&> Tensor with_gradient(const char* name, Tensor result,
                                                                                 std::span<const Tensor> inputs,
                                                                                 F backward) {
  return with_gradient_of_one(name, std::move(result), inputs,
                              [f = std::move(backward)](std::span<const Tensor> dy) { return f(dy[0]); });
}

// The same with the inputs in braces.
template <class Result, class F>
auto with_gradient(const char* name, Result&& result, std::initializer_list<Tensor> inputs, F&& backward) {
  return with_gradient(name, std::forward<Result>(result), std::span(inputs.begin(), inputs.size()),
                       std::forward<F>(backward));
}

// True if the tape would be kept: an operation asks before it saves what only its gradient needs.
bool any_needs_gradient(std::span<const Tensor> tensors);

template <class... Tensors>
bool needs_gradient(const Tensors&... tensors) {
  return (tensors.needs_gradient() || ...);
}

// What a broadcast spread is summed up again:  gradient of shape `from` → `shape`, in a fixed order.
Tensor sum_to(const Tensor& gradient, const Shape& shape);

}  // namespace fovea
