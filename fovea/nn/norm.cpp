#include "fovea/nn/norm.h"

namespace fovea {
namespace {

// A width that no model has waits for its numbers, as every weight does.
Tensor new_scale(int64_t width) { return width <= 1 << 16 ? ones({width}) : new_weight({width}); }

}  // namespace

LayerNorm::LayerNorm(const Config& c) : epsilon_(c.epsilon) {
  require(c.width > 0 && c.epsilon >= 0, "LayerNorm: found width {} and ε {}, expected a width and no negative ε",
          c.width, c.epsilon);
  weight_ = new_scale(c.width);
  if (c.bias) bias_ = new_weight({c.width});
}

RmsNorm::RmsNorm(const Config& c) : epsilon_(c.epsilon) {
  require(c.width > 0 && c.epsilon >= 0, "RmsNorm: found width {} and ε {}, expected a width and no negative ε",
          c.width, c.epsilon);
  weight_ = new_scale(c.width);
}

}  // namespace fovea
