// When each word was said, from what the decoder's heads looked at while it was written.
//
//   std::vector<int64_t> at = said_at(weights, 0, 9);  // [heads, tokens, states] → the state at which each of nine tokens begins
//
// Each head's weights are compared with those that it has for the other tokens, (w − mean) / deviation, smoothed by the median of seven
// states, averaged, and the best way through them that never goes back is found by dynamic time warping.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct SpokenWord {
  std::string text = {};      // with the space before it, and with the marks that belong to it
  double start = 0, end = 0;  // seconds
  double probability = 0;     // the mean of its tokens'
  size_t tokens = 0;
  std::vector<float> heard = {};  // how much it looked at each state of its window, if asked for; the sum is 1
};

// Of tokens [first, first + count); they are compared with all.
std::vector<int64_t> said_at(const Tensor& weights, int64_t first, int64_t count);

// Tokens of one window, without times, and what was seen while they were written.
struct SpokenTokens {
  std::vector<int64_t> ids = {};
  std::vector<double> probabilities = {};
  // [heads, tokens, states]: row before + i was seen when ids[i] was next, behind the last of them what follows.
  Tensor weights = {};
  int64_t before = 0;
  double seconds_per_state = 0.02;
  bool spaces = true;  // whether the language puts spaces between words
  bool heard = false;
};

struct SpokenWords {
  std::vector<SpokenWord> words;
  double usual = 0;  // the usual length of a word, at most 0.7 s
};

// In seconds from the window's beginning. Marks stand with the word that they belong to; a word that seems much longer than others
// before or after the end of a sentence has a pause in it and is cut.
SpokenWords spoken_words(const Tokenizer&, const SpokenTokens&);

// A word after a pause does not begin with the pause. `words` are those of one part of the text, from `start` to `end`, in seconds of
// the recording; the last word before them ended at `before`. Start and end become those of the first and the last word.
void fit_words(std::span<SpokenWord> words, double usual, double before, double& start, double& end);

}  // namespace fovea
