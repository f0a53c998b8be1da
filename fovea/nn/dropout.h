// Each element is zeroed with probability p and the others divided by 1 − p, in training only (Srivastava et al. 2014).
//
//   Dropout drop(0.1);
//   Tensor y = drop(x, context.at("hidden"));          // the place names the random numbers
#pragma once

#include "fovea/nn/context.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

class Linear;  // nn/linear.h

class Dropout final {
 public:
  explicit Dropout(double probability);

  Tensor operator()(const Tensor& x, const Context& context) const;
  // residual + drop(linear(x)), in one pass where nothing is dropped.
  Tensor onto(const Tensor& residual, const Linear& linear, const Tensor& x, const Context& context) const;

 private:
  double probability_;
};

}  // namespace fovea
