// Attention over three keys, with the scores and weights that led to it.
#include <fmt/core.h>
#include <fovea/fovea.h>

int main() {
  const std::vector<float> query = {2}, keys = {1, 2, 3}, values = {2, 4, 6};
  const fovea::Attention attend({.form = "dot"});
  const auto r = attend({query, 1}, {keys, 3}, {values, 3});

  for (float weight : r.weights) fmt::print("{:.4f} ", weight);
  fmt::print("-> {:.5f}\n", r.context[0]);  // 0.0159 0.1173 0.8668 -> 5.70187
}
