#include "fovea/nn/norm.h"

#include "fovea/tensor/arithmetic.h"

namespace fovea {

LayerNorm::LayerNorm(const Config& c) : epsilon_(c.epsilon) {
  require(c.width > 0 && c.epsilon >= 0, "LayerNorm: found width {} and ε {}, expected a width and no negative ε",
          c.width, c.epsilon);
  weight_ = Weight({c.width});
  if (c.bias) bias_ = Weight({c.width});
}

RmsNorm::RmsNorm(const Config& c) : epsilon_(c.epsilon), plus_one_(c.plus_one) {
  require(c.width > 0 && c.epsilon >= 0, "RmsNorm: found width {} and ε {}, expected a width and no negative ε",
          c.width, c.epsilon);
  weight_ = Weight({c.width});
}

Tensor RmsNorm::operator()(Tensor x) const {
  return rms_norm(std::move(x), plus_one_ ? *weight_ + 1 : *weight_, epsilon_);
}

}  // namespace fovea
