// A label for each text, with its probability and what it was decided by.
//
//   const Classified c = classify(*model, *tokenizer, {"A wonderful film."}, {.weights = true})[0];
//   model->labels()[c.best];   c.probabilities[c.best];   c.weights;       // of c.tokens
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/models/classifier.h"

namespace fovea {

struct Classified {
  size_t best = 0;                    // the most probable of the model's labels
  std::vector<double> probabilities;  // of each label
  std::vector<Span> tokens;
  std::vector<double> weights;  // if asked for and known: how much each token counted
};

struct ClassifyOptions {
  bool weights = false;
  size_t batch_size = 32;
  std::function<void(size_t texts)> on_batch = {};  // after each batch: how many it had
};

std::vector<Classified> classify(const ClassifierModel&, const Tokenizer&, const std::vector<std::string>& texts,
                                 const ClassifyOptions& = {});

}  // namespace fovea
