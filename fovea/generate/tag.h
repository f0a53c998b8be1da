// A label for each word of a sentence.
//
//   const Tagged t = tag(*tagger, *words, {{"Ada", "lives", "in", "London"}}, {.attention = true})[0];
//   tagger->labels()[t.labels[0]];   t.probabilities[0];   t.attention;    // [words, words]
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/batches.h"
#include "fovea/data/text/words.h"
#include "fovea/models/tagger.h"

namespace fovea {

using Sentence = std::vector<std::string>;  // its words

struct Tagged {
  std::vector<std::string> labels;    // of each word
  std::vector<double> probabilities;  // of each of these labels, given the whole sentence
  Tensor attention;                   // if asked for and there is one: [words, words], the mean over heads
};

struct TagOptions {
  bool attention = false;
  size_t batch_size = 32;
  std::function<void(size_t sentences)> on_batch = {};  // after each batch: how many it had
};

std::vector<Tagged> tag(const Tagger&, const Words&, const std::vector<Sentence>& sentences, const TagOptions& = {});

// A sentence as the tagger sees it: the ids of its words, and the ids of the characters of each.
std::vector<Sequence> tagger_columns(const Words&, const Sentence&);
TaggerInput tagger_input(const Column& words, const Column& characters);

}  // namespace fovea
