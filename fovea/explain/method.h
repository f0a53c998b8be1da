// From the words to the answer: how much each token of a text counted for one answer of a model, by one of several methods.
//
//   const auto question = ask(*model, *tokenizer, "A wonderful film.");
//   const Scores s = find<Method>("integrated-gradients").scores(*question, {});       // s.tokens, s.note
//
// The folder methods/ is their catalogue. Scores that have a sign count for the answer where they are above 0 and against it below.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/catalogue.h"
#include "fovea/explain/question.h"

namespace fovea {

struct MethodOptions {
  int64_t steps = 32;                  // of integrated gradients at first, doubled until they add up
  Erasing erasing = Erasing::replace;  // of leaving words out
};

struct Scores {
  std::vector<double> tokens = {};
  std::string note = {};  // what there is to say about them: whether they add up
};

struct Method {
  static constexpr std::string_view noun = "method";
  std::string_view name;
  std::string_view formula;
  std::string_view paper;
  bool has_sign = false;
  // An Error of kind unsupported, of one line, where the method does not fit the model.
  Scores (*scores)(const Question&, const MethodOptions&);
};

}  // namespace fovea
