#include "fovea/nn/linear.h"

namespace fovea {

Linear::Linear(const Config& c) {
  require(c.inputs > 0 && c.outputs > 0, "Linear: found {} inputs and {} outputs, expected at least 1 of each",
          c.inputs, c.outputs);
  weight_ = zeros({c.outputs, c.inputs});
  if (c.bias) bias_ = zeros({c.outputs});
}

}  // namespace fovea
