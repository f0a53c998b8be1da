// Attention over three keys, with the weights that the fused kernel itself returns.
#include <fmt/core.h>
#include <fovea/attention/attention.h>

int main() {
  using namespace fovea;
  // [batch, tokens, heads, width]: one query and three keys of width 1, as in `fovea attend --form dot …`
  Tensor q = tensor({1, 1, 1, 1}, std::vector<float>{2});
  Tensor k = tensor({1, 3, 1, 1}, std::vector<float>{1, 2, 3});
  Tensor v = tensor({1, 3, 1, 1}, std::vector<float>{2, 4, 6});

  AttentionResult result = attend(q, k, v, {.form = &dot, .probe = Probe{.weights = true}}, {});

  for (float weight : result.probe.weights.values<float>()) fmt::print("{:.4f} ", weight);
  fmt::print("-> {:.5f}\n", result.output.item());  // 0.0159 0.1173 0.8668 -> 5.70187
}
