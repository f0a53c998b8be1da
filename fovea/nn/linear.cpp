#include "fovea/nn/linear.h"

namespace fovea {

Linear::Linear(const Config& c) {
  require(c.inputs > 0 && c.outputs > 0, "Linear: found {} inputs and {} outputs, expected at least 1 of each",
          c.inputs, c.outputs);
  weight_ = Weight({c.outputs, c.inputs}, Weight::Use::product);
  if (c.bias) bias_ = Weight({c.outputs});
}

}  // namespace fovea
