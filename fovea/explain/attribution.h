// How much each word counted for one answer of a model, by several methods side by side.
//
//   const auto question = ask(*model, *tokenizer, "A wonderful film.");
//   const Attributions all = attribute(*question, {"attention", "integrated-gradients"});
//   to_text(all);   to_json(all);   all.methods[0].words;                  // a score for each of all.text.words
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/heat_map.h"
#include "fovea/explain/method.h"

namespace fovea {

struct Attribution {
  const Method* method = nullptr;
  std::vector<double> tokens = {};
  std::vector<double> words = {};  // each the sum over its tokens
  std::string note = {};           // whether integrated gradients add up, and the like
  std::string unfit = {};          // instead of scores: why the method does not fit the model
};

struct Attributions {
  AskedText text = {};
  std::string answer = {};
  double probability = 0;
  std::vector<Attribution> methods = {};
  std::vector<Question::Choice> choices = {};
};

// The names of all methods, or "all"; in the order in which docs/seeing.md tells of them. An Error for a name that is none.
std::vector<const Method*> methods_named(const std::vector<std::string>& names);

Attribution attributed_by(const Question&, const Method&, const MethodOptions& = {});
Attributions attribute(const Question&, const std::vector<std::string>& methods, const MethodOptions& = {});

// With four digits, and no sign before nothing.
std::string shown_score(double);

// The answer, then a line for each word and a column for each method, then what there is to say about them.
std::string to_text(const Attributions&);
// Of each method a line with the words on its scores' colours: the deepest is the largest of them; what counts against is blue.
std::string to_terminal(const Attributions&, const TerminalLook&);
// {"text", "answer", "probability", "choices": [[answer, shown]], "tokens": [{"text", "span", "word"}], "words": [{"text", "span"}],
//  "methods": [{"name", "tokens": [scores], "words": [scores], "note"} or {"name", "unfit"}]}
std::string to_json(const Attributions&);
// The words on colours, a block for each method.
std::string to_svg(const std::vector<Attributions>&);

}  // namespace fovea
