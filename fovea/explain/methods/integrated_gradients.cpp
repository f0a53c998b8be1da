// The same along the whole way from a text that says nothing, b, to the text, x, so that the scores add up to what the text changed.
//
//   s[j] = (x[j] − b[j]) · 1/m Σₖ ∂p/∂x at b + (k − ½)/m (x − b),   Σ s = p(x) − p(b)     (Sundararajan, Taly and Yan 2017)
//
// In b every word is the token that says nothing; the model's own tokens are the same in both.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/explain/entered.h"
#include "fovea/explain/method.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea::methods {
namespace {

constexpr int64_t most_steps = 512, most_batch_tokens = 1024;
constexpr double close_enough = 0.01;  // of what the scores have to add up to

struct End {
  Tensor vectors;  // [tokens, width]
  double value = 0;
};

// What enters the model, and its answer: of the text, or of the one that says nothing.
End end_of(const Question& question, const Erased& erased) {
  Entered entered(question.sequence());
  const Tensor odds = question.odds({erased}, Erasing::replace, {.entrance = &entered});
  entered.require_way_back(odds);
  const Tensor x = entered.vectors().detach();
  return {x.reshape({x.elements() / x.size(-1), x.size(-1)}), question.value_of(odds.item())};
}

// 1/m Σ of the gradients at the middle of each of m parts of the way.
Tensor mean_gradient(const Question& question, const Tensor& from, const Tensor& way, int64_t steps) {
  const int64_t tokens = way.size(0), width = way.size(1);
  const int64_t batch = std::clamp<int64_t>(most_batch_tokens / tokens, 1, steps);
  Tensor total = zeros(way.shape());
  for (int64_t begin = 0; begin < steps; begin += batch) {
    const int64_t count = std::min(batch, steps - begin);
    std::vector<double> places;
    for (int64_t k = begin; k < begin + count; ++k)
      places.push_back((static_cast<double>(k) + 0.5) / static_cast<double>(steps));
    const Tensor at = tensor({count, 1, 1}, places).to(DType::f32);
    Entered entered(question.sequence(), [&](const Tensor& x) { return (from + at * way).reshape(x.shape()); });
    const Tensor odds = question.odds({.entrance = &entered}, static_cast<size_t>(count));
    std::vector<double> slopes;
    for (double o : odds.detach().values<double>()) slopes.push_back(question.slope_at(o) / static_cast<double>(steps));
    odds.backward(tensor(odds.shape(), slopes).to(DType::f32));
    add_into(total, sum(entered.vectors().gradient().reshape({count, tokens, width}), {0}));
  }
  return total;
}

Scores scores(const Question& question, const MethodOptions& options) {
  require(0 < options.steps && options.steps <= most_steps, "--steps: found {}, expected 1 to {}", options.steps,
          most_steps);
  const End text = end_of(question, {}), nothing = end_of(question, Erased(question.text().words.size(), true));
  const Tensor way = text.vectors - nothing.vectors;
  const double whole = text.value - nothing.value;
  Scores s;
  for (int64_t steps = options.steps;; steps *= 2) {
    s.tokens = sum(way * mean_gradient(question, nothing.vectors, way, steps), {-1}).values<double>();
    const double found = std::accumulate(s.tokens.begin(), s.tokens.end(), 0.0);
    s.note = fmt::format("add up to {:.4f} of {:.4f} = {:.4f} − {:.4f} (all words {}), {} steps", found, whole,
                         text.value, nothing.value, question.replacement_name(), steps);
    if (2 * steps > most_steps || std::abs(found - whole) <= close_enough * std::max(std::abs(whole), 0.01)) return s;
  }
}

}  // namespace

extern const Method integrated_gradients = {.name = "integrated-gradients",
                                            .formula = "(x − b) · ∫ ∂p/∂x from b to x",
                                            .paper = "Sundararajan, Taly and Yan 2017",
                                            .has_sign = true,
                                            .scores = scores};

}  // namespace fovea::methods
