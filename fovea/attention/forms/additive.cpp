#include "fovea/attention/form.h"

namespace fovea {

extern const Form additive = {.name = "additive", .formula = "vᵀ tanh(W q + U k)"};

}  // namespace fovea
