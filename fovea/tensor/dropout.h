// Each element is zeroed with probability p, the others are divided by 1 − p. Element i depends on `random` and i
// alone.
#pragma once

#include "fovea/base/random.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor dropout(const Tensor& x, float p, const Random& random);

}  // namespace fovea
