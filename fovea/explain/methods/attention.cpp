// What the answer looks at: the weights of the last attention from the answer to the text, the mean over heads.
//
//   s[j] = 1/H Σₕ α[h, j]
#include "fovea/explain/looked.h"
#include "fovea/explain/method.h"

namespace fovea::methods {
namespace {

Scores scores(const Question& question, const MethodOptions&) {
  const auto& [place, row] = question.look();
  const Looked looked(question, {.places = {place}});
  const int64_t heads = looked.heads(place);
  Scores s = {std::vector<double>(question.text().ids.size())};
  for (int64_t h = 0; h < heads; ++h) {
    const std::vector<double> w = looked.weights(place, h, row);
    for (size_t j = 0; j < s.tokens.size(); ++j) s.tokens[j] += w.at(j) / static_cast<double>(heads);
  }
  return s;
}

}  // namespace

extern const Method attention = {
    .name = "attention", .formula = "mean over heads of α", .paper = "Bahdanau, Cho and Bengio 2014", .scores = scores};

}  // namespace fovea::methods
