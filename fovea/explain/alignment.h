// Weights between tokens as weights between words, and as the alignment of the words.
//
//   WordWeights w = by_words({text, spans}, {source, source_spans}, attention);
//   to_pharaoh(hard_alignment(w));                     // "0-0 1-2": source word, target word
//
// A word is what white space separates in the user's own text. Its weight is what its tokens got together, on the side that
// is looked at (a sum), and on average, on the side that looks (a mean). A token of no word, such as the end, is left out; rows
// are not made to sum to 1 afterwards: what is missing from 1 lay on such tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"
#include "fovea/explain/heat_map.h"
#include "fovea/explain/word_weights.h"
#include "fovea/tensor/tensor.h"
#include "fovea/train/metrics/alignment.h"

namespace fovea {

// A text and the bytes of it that each of its tokens stands for.
struct TextTokens {
  std::string_view text;
  const std::vector<Span>& tokens;
};

std::vector<Span> words_of(std::string_view text);

// The number of the word that each token belongs to: that of its first byte that is no white space; −1: none.
std::vector<int64_t> words_of_tokens(const TextTokens&);

WordWeights by_words(const TextTokens& looking, const TextTokens& looked_at, const Tensor& weights);

// One number for each token as one for each word: the sum over its tokens.
std::vector<double> by_words(const TextTokens&, const std::vector<double>& weights);

// Each word that looks is linked to the one with its largest weight, the first of equals; none if all are 0.
Alignment hard_alignment(const WordWeights&);
std::string to_pharaoh(const Alignment&);  // in the order of the target words

// All weights that are at least `least`, as "0-0:0.91 2-0:0.05": source word, target word, weight.
std::string soft_alignment(const WordWeights&, double least = 0.01);

HeatMap to_heat_map(const WordWeights&, std::string title);

}  // namespace fovea
