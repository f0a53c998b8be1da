#include "fovea/nn/dropout.h"

#include "fovea/nn/linear.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/dropout.h"

namespace fovea {

Dropout::Dropout(double probability) : probability_(probability) {
  require(probability >= 0 && probability < 1, "Dropout: found probability {}, expected at least 0 and less than 1",
          probability);
}

Tensor Dropout::operator()(const Tensor& x, const Context& context) const {
  if (!context.training || probability_ == 0) return x;
  return dropout(x, static_cast<float>(probability_), context.random.fork("dropout"));
}

Tensor Dropout::onto(const Tensor& residual, const Linear& linear, const Tensor& x, const Context& context) const {
  if (context.training) return residual + (*this)(linear(x), context);
  return linear_onto(residual, x, linear.weight(), linear.bias());
}

}  // namespace fovea
