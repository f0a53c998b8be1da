// A distribution over a vocabulary mixed with one over the tokens of a source, which are thereby copied (Vinyals, Fortunato
// and Jaitly 2015; See, Liu and Manning 2017).
//
//   y[v] = log(p softmax(logits)[v] + (1 − p) Σ weights[j] over source_ids[j] = v)        p = σ(gate)
//
//   Tensor y = mix_copies(logits, gate, weights, source_ids);      // [batch, queries, vocabulary + as many ids as lie behind]
//   cross_entropy(y, wanted);                                      // logarithms of probabilities are logits of themselves
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

// logits [batch, queries, vocabulary], gate [batch, queries, 1], weights [batch, queries, tokens], each row of which sums to 1,
// source_ids i64 [batch, tokens]. A negative id stands for nothing to be copied. An id of the vocabulary's size or more is a word
// that only the source has: y gets a column for each up to the largest, −∞ in rows whose source does not have it. What has no
// weight keeps log p + log softmax; a word outside of the vocabulary has at least the probability (1 − p) · 1e-30.
Tensor mix_copies(const Tensor& logits, const Tensor& gate, const Tensor& weights, const Tensor& source_ids);

}  // namespace fovea
