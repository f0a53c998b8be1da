// How far the answer's probability falls without the word; its tokens share that.
//
//   s[j] = p(x) − p(x without the word of j)     (Li, Monroe and Jurafsky 2016)
#include <fmt/format.h>
#include <algorithm>

#include "fovea/explain/method.h"

namespace fovea::methods {
namespace {

Scores scores(const Question& question, const MethodOptions& options) {
  const AskedText& text = question.text();
  std::vector<Erased> variants;
  for (size_t word = 0; word < text.words.size(); ++word) {
    variants.emplace_back(text.words.size());
    variants.back()[word] = true;
  }
  const std::vector<double> left = question.without(variants, options.erasing);
  Scores s = {std::vector<double>(text.ids.size())};
  for (size_t j = 0; j < s.tokens.size(); ++j) {
    if (text.word_of[j] < 0) continue;
    const auto pieces = std::count(text.word_of.begin(), text.word_of.end(), text.word_of[j]);
    s.tokens[j] = (question.probability() - left[static_cast<size_t>(text.word_of[j])]) / static_cast<double>(pieces);
  }
  s.note = options.erasing == Erasing::replace ? fmt::format("each word replaced by {}", question.replacement_name())
                                               : "each word removed";
  return s;
}

}  // namespace

extern const Method leave_one_out = {.name = "leave-one-out",
                                     .formula = "p(x) − p(x without it)",
                                     .paper = "Li, Monroe and Jurafsky 2016",
                                     .has_sign = true,
                                     .scores = scores};

}  // namespace fovea::methods
