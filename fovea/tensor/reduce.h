// Reductions over one axis, several, or all; each sum has a fixed order.
//
//   Tensor total = sum(x);   Tensor rows = mean(x, {-1}, Axes::keep);
#pragma once

#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

enum class Axes { drop, keep };  // whether a reduced axis stays, with size 1

Tensor sum(const Tensor& x);
Tensor sum(const Tensor& x, const std::vector<int>& axes, Axes = Axes::drop);
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, const std::vector<int>& axes, Axes = Axes::drop);
Tensor variance(const Tensor& x, const std::vector<int>& axes, Axes = Axes::drop);  // divided by n, not n − 1
Tensor max(const Tensor& x, int axis, Axes = Axes::drop);  // the gradient goes to the first maximum; a NaN wins
Tensor min(const Tensor& x, int axis, Axes = Axes::drop);
Tensor argmax(const Tensor& x, int axis, Axes = Axes::drop);  // i64, the first of equals
Tensor log_sum_exp(const Tensor& x, int axis, Axes = Axes::drop);

}  // namespace fovea
