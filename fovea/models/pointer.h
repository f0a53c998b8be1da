// What a Transformer copies: an attention of its own over the encoder's states, with one head, and a gate.
//
//   a[t] = softmax(W s[t] · U h / √width)     p[t] = σ(vᵀ [s[t]; Σ a[t,j] U h[j]] + b)        s, h: the last states of both stacks
//
//   Pointer pointer(256);   SourceKeys keys = pointer.keys(memory, lengths, context);
//   Tensor y = pointer(logits, states, keys, ids, context);         // copying.h; its place: decoder.pointer
//
// It stands on top of the decoder and is none of the heads that are there: those mix what the layers above them read, and
// asking one of them to lie on a single token would take that from it; this one sees the state that decides the word.
#pragma once

#include "fovea/models/source_attention.h"
#include "fovea/nn/linear.h"

namespace fovea {

class Pointer final {
 public:
  explicit Pointer(int64_t width);

  SourceKeys keys(const Tensor& memory, const Tensor& lengths, const Context&) const;
  SourceKeys packed_keys(const Tensor& memories,
                         std::span<const int64_t> starts) const;  // [1, tokens of all rows, width]
  // Logits and states [batch, queries, …] → log-probabilities, with columns for the words that only the source has.
  Tensor operator()(const Tensor& logits, const Tensor& states, const SourceKeys&, const Tensor& ids,
                    const Context&) const;
  void weights(Weights& w);

 private:
  Linear query_, key_, gate_;
  SourceAttention attention_;
};

}  // namespace fovea
