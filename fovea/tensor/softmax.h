// softmax(x)[i] = e^x[i] / Σ e^x[j] along one axis, and its logarithm. A row of nothing but −∞ gives zeros, not NaN.
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor softmax(const Tensor& x, int axis = -1);
Tensor log_softmax(const Tensor& x, int axis = -1);

}  // namespace fovea
