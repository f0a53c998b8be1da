// How much the answer would gain by more of a weight, times the weight that is there.
//
//   s[j] = Σₕ α[h, j] ∂p/∂α[h, j]
#include "fovea/explain/looked.h"
#include "fovea/explain/method.h"

namespace fovea::methods {
namespace {

Scores scores(const Question& question, const MethodOptions&) {
  const auto& [place, row] = question.look();
  const Looked looked(question, {.places = {place}, .gradient = true});
  Scores s = {std::vector<double>(question.text().ids.size())};
  for (int64_t h = 0; h < looked.heads(place); ++h) {
    const std::vector<double> w = looked.weights(place, h, row), g = looked.gradient(place, h, row);
    for (size_t j = 0; j < s.tokens.size(); ++j) s.tokens[j] += w.at(j) * g.at(j);
  }
  return s;
}

}  // namespace

extern const Method gradient_attention = {.name = "gradient-attention",
                                          .formula = "Σ α ∂p/∂α over heads",
                                          .paper = "Barkan et al. 2021",
                                          .has_sign = true,
                                          .scores = scores};

}  // namespace fovea::methods
