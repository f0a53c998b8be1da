#include "fovea/nn/dropout.h"

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

}  // namespace fovea
