// One word in several texts: what it attends to in each, and how far apart its states are, layer by layer.
//
//   const WordInText loan = look_at_word(model, "The bank approved the loan.", "bank");
//   const WordInText river = look_at_word(model, "We sat on the bank of the river.", "bank");
//   cosines(loan, river);                              // of each layer: 1 before the first, less and less behind it
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/heat_map.h"
#include "fovea/explain/word_weights.h"
#include "fovea/models/pretrained.h"

namespace fovea {

struct WordInText {
  std::string text, word;
  std::vector<std::string> layers;  // whose state it is: "encoder.layer.0" … as it reads it, and last "output"
  std::vector<std::vector<double>> states;  // the mean over the word's tokens, without the marks around it
  std::vector<std::string> places;          // of attention of the text over itself
  WordWeights attention;                    // a row for each place: the mean over its heads, of the word over all words

  HeatMap map() const;
};

// Of a model that encodes texts. An Error if the word is not in the text; the first one if it is there several times.
WordInText look_at_word(const Pretrained&, const std::string& text, const std::string& word);

// Of the states of the same layers.
std::vector<double> cosines(const WordInText&, const WordInText&);

// A line for each layer with the cosines to the first text, and what the word attends to most in each text and attention.
std::string to_text(const std::vector<WordInText>&);
std::string to_tsv(const std::vector<WordInText>&);  // layer, and a column for each text but the first, for fovea plot
std::string to_json(const std::vector<WordInText>&);

}  // namespace fovea
