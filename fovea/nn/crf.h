// A linear chain over the labels of a sentence (Lafferty, McCallum and Pereira 2001; Lample et al. 2016):
//
//   s(y) = start[y₁] + Σₜ e[t, yₜ] + Σₜ transition[yₜ₋₁, yₜ] + stop[yₙ]      p(y) = exp s(y) / Σ exp s(y′)
//
//   Crf crf({.labels = 9});
//   Tensor loss = crf.loss(emissions, labels, lengths);  Tensor best = crf.best(emissions, lengths);
//
// The sum over all sequences and its gradient by forward-backward in log space, the best sequence by Viterbi's algorithm.
#pragma once

#include <span>

#include "fovea/nn/weights.h"

namespace fovea {

class Crf final {
 public:
  struct Config {
    int64_t labels = 0;
  };
  explicit Crf(const Config&);

  // emissions [batch, words, labels], labels i64 [batch, words], lengths i64 [batch] (all words if not given). What stands
  // beyond a length is never looked at; a sentence of no words has the loss 0.
  Tensor loss(const Tensor& emissions, const Tensor& labels, const Tensor& lengths) const;  // Σ −log p(y), one number
  // i64 [batch, words]; of equally good labels the lowest; 0 beyond the lengths.
  Tensor best(const Tensor& emissions, const Tensor& lengths) const;
  // Of each label of each word, [batch, words, labels], without a gradient; 0 beyond the lengths.
  Tensor probabilities(const Tensor& emissions, const Tensor& lengths) const;
  // ln p / (1 − p) of a label at one word of each sentence, [batch], with its gradient.
  Tensor log_odds(const Tensor& emissions, const Tensor& lengths, std::span<const int64_t> words, int64_t label) const;
  void weights(Weights& w);

 private:
  Weight start_, transition_, stop_;  // [labels], [from, to], [labels]
};

}  // namespace fovea
