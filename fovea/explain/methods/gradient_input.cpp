// How the answer changes with a word's vector, along that vector.
//
//   s[j] = x[j] · ∂p/∂x[j]     (Shrikumar et al. 2016)
#include "fovea/explain/entered.h"
#include "fovea/explain/method.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/reduce.h"

namespace fovea::methods {
namespace {

Scores scores(const Question& question, const MethodOptions&) {
  Entered entered(question.sequence());
  const Tensor odds = question.odds({.entrance = &entered});
  entered.require_way_back(odds);
  odds.backward(full(odds.shape(), question.slope_at(odds.item())));
  return {sum(entered.vectors().detach() * entered.vectors().gradient(), {-1}).values<double>()};
}

}  // namespace

extern const Method gradient_input = {.name = "gradient-input",
                                      .formula = "x · ∂p/∂x",
                                      .paper = "Shrikumar, Greenside, Shcherbina and Kundaje 2016",
                                      .has_sign = true,
                                      .scores = scores};

}  // namespace fovea::methods
