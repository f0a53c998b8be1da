// softmax(x)[i] = e^x[i] / Σ e^x[j] along one axis, and its logarithm. A row of nothing but −∞ gives zeros, not NaN.
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor softmax(const Tensor& x, int axis = -1);
Tensor log_softmax(const Tensor& x, int axis = -1);

// ln p / (1 − p) = x[i] − ln Σ e^x[j] over the others, along the last axis, which is dropped; exact where p is next to 1.
Tensor log_odds(const Tensor& x, int64_t i);

}  // namespace fovea
