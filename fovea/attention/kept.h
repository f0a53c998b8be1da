// A problem of the fused kernel that stays, so that its weights can be looked at again, and their gradients.
#pragma once

#include <memory>

#include "fovea/attention/problem.h"

namespace fovea {

class KeptProblem : public KeptAttention {
 public:
  virtual void came_back(const Tensor& d_output) = 0;  // the gradient of the attention's output
};

// `sums` are those of the forward pass, [batch, heads, queries]; `output` is what the heads' results are multiplied by, if anything.
std::shared_ptr<KeptProblem> keep(std::shared_ptr<const Problem>, std::vector<kernels::RowSum> sums, Weight output);

}  // namespace fovea
