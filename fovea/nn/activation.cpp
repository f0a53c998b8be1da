#include "fovea/nn/activation.h"

#include <array>
#include <utility>

#include "fovea/base/catalogue.h"

namespace fovea {

Activation activation_named(std::string_view name) {
  using enum Activation;
  static constexpr std::array<std::pair<std::string_view, Activation>, 11> known = {{{"none", none},
                                                                                     {"relu", relu},
                                                                                     {"gelu", gelu},
                                                                                     {"gelu-tanh", gelu_tanh},
                                                                                     {"silu", silu},
                                                                                     {"tanh", tanh},
                                                                                     {"sigmoid", sigmoid},
                                                                                     {"gelu_new", gelu_tanh},
                                                                                     {"gelu_pytorch_tanh", gelu_tanh},
                                                                                     {"gelu_fast", gelu_tanh},
                                                                                     {"swish", silu}}};
  std::vector<std::string> names;
  for (const auto& [key, activation] : known) {
    if (key == name) return activation;
    names.emplace_back(key);
  }
  throw_unknown("activation", name, names);
}

}  // namespace fovea
