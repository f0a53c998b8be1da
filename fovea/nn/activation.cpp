#include "fovea/nn/activation.h"

#include <utility>

#include "fovea/base/catalogue.h"

namespace fovea {

Activation activation_named(std::string_view name) {
  using enum Activation;
  static constexpr std::pair<std::string_view, Activation> known[] = {
      {"none", none},          {"relu", relu},           {"gelu", gelu},        {"gelu-tanh", gelu_tanh},
      {"silu", silu},          {"tanh", tanh},           {"sigmoid", sigmoid},  {"swish", silu},
      {"gelu_new", gelu_tanh}, {"gelu_fast", gelu_tanh}, {"gelu_python", gelu}, {"gelu_pytorch_tanh", gelu_tanh},
      {"linear", none}};
  std::vector<std::string> names;
  for (const auto& [key, activation] : known) {
    if (key == name) return activation;
    names.emplace_back(key);
  }
  throw_unknown("activation", name, names);
}

}  // namespace fovea
