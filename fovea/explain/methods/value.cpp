// What the answer gets: the weights times what they weigh. A large weight on a small vector brings little.
//
//   s[j] = ‖Σₕ α[h, j] f(v[h, j])‖,   f(v) = v Wᴼ of the head     (Kobayashi et al. 2020)
#include <cmath>

#include "fovea/explain/looked.h"
#include "fovea/explain/method.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea::methods {
namespace {

Scores scores(const Question& question, const MethodOptions&) {
  const auto& [place, row] = question.look();
  const Looked looked(question, {.places = {place}});
  Tensor sum;
  for (int64_t h = 0; h < looked.heads(place); ++h) {
    const Tensor brought = looked.brought(place, h, row);
    const Tensor weights = looked.rows(place, h, {row, row + 1}).reshape({brought.size(0), 1});
    sum = sum ? sum + weights * brought : weights * brought;
  }
  const std::vector<double> all = sum.values<double>();
  const auto width = static_cast<size_t>(sum.size(1));
  Scores s = {std::vector<double>(question.text().ids.size())};
  for (size_t j = 0; j < s.tokens.size(); ++j) {
    double square = 0;
    for (size_t d = 0; d < width; ++d) square += all.at(j * width + d) * all[j * width + d];
    s.tokens[j] = std::sqrt(square);
  }
  return s;
}

}  // namespace

extern const Method value = {
    .name = "value", .formula = "‖Σ α f(v)‖ over heads", .paper = "Kobayashi et al. 2020", .scores = scores};

}  // namespace fovea::methods
