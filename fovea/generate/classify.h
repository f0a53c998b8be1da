// A label for each text, with its probability and what it was decided by.
//
//   const Classified c = classify(*model, *tokenizer, {"A wonderful film."}, {.weights = true})[0];
//   model->labels().names()[c.best];   c.probabilities[c.best];   c.weights;       // of c.tokens
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/models/abilities.h"

namespace fovea {

struct Classified {
  size_t best = 0;                    // the most probable of the model's labels
  std::vector<double> probabilities;  // of each label; the number itself if the model gives one
  std::vector<Span> tokens;
  std::vector<double> weights;  // if asked for and known: how much each token counted
  size_t unread = 0;            // tokens at the end beyond those that the model reads

  // Of a model that may give several labels: those with a probability of at least a half.
  std::vector<size_t> chosen() const;
};

struct ClassifyOptions {
  bool weights = false;
  Trace* trace = nullptr;  // what the model sees
  size_t batch_size = 32;
  std::function<void(size_t texts)> on_batch = {};  // after each batch: how many it had
};

// A text as the model sees it: where it reads pairs, the second stands behind a tab, and its tokens behind an end, or both as
// the tokenizer frames them.
struct ReadText {
  Tokens tokens;
  size_t unread = 0;
};
ReadText labeller_tokens(const Tokenizer&, const std::string& text, const TextLabeller&);

// "good<TAB>0.9923"; of several labels all that are chosen, or with `all` every one, the most probable first; "3.42", a number.
std::string to_text(const Classified&, const Labels&, bool all = false);

// Whether another label is almost as probable, by less than 0.2; with several labels, whether one is that close to a half.
bool is_unsure(const Classified&, const Labels&);

std::vector<Classified> classify(const TextLabeller&, const Tokenizer&, const std::vector<std::string>& texts,
                                 const ClassifyOptions& = {});

}  // namespace fovea
