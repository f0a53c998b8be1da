// A recurrent decoder that looks at an encoder's states h through attention: what the translator (families/seq2seq.h) and the
// captioner (families/captioner.h) write with.
//
//   order "bahdanau" (Bahdanau, Cho and Bengio 2014): attend with the state before the step
//     c[t] = attend(s[t−1], h)   s[t] = cell([y[t−1]; c[t]], s[t−1])   o[t] = tanh(W [s[t]; c[t]; y[t−1]])
//   order "luong" (Luong, Pham and Manning 2015): attend with the state after it; input feeding hands o[t−1] on
//     s[t] = cell([y[t−1]; o[t−1]], s[t−1])   c[t] = attend(s[t], h)   o[t] = tanh(W [c[t]; s[t]])
//
//   RecurrentDecoder decoder({.vocabulary = 8000, .embedding = 256, .memory_width = 512, .width = 512});
//   Tensor logits = decoder.logits(memory, inputs, context);
//
// With attention "none" c[t] is always the summary, the one vector that has to hold the whole source. With a gate on the context
// (Xu et al. 2015) c[t] is multiplied by β[t] = σ(wᵀ q[t] + b), q[t] being the state that attends.
//
// In training a token's loss is ℓ[t] = −log p + coverage_loss · Σ min(a[t,j], c[t,j]) over j (coverage: source_attention.h). Soft
// weights that are to reach every place get doubly_stochastic · Σ (1 − Σ a[t,j] over t)² over j on top, once for each row (Xu et al. 2015).
//
// With a pointer (See, Liu and Manning 2017) it can also copy tokens of the source, by the weights a[t] of its attention; logits()
// and step() then give log-probabilities (copying.h). The gate is p[t] = σ(wᵀ [c[t]; s[t]; y[t−1]] + b).
//
// A hard choice j[t] ~ a[t] learns by REINFORCE (Williams 1992) from the losses of its own and later steps, less those that
// the most probable choices would have had (the self-critic of Rennie et al. 2017), with a bonus for the entropy H of the
// weights. loss() has the value Σ ℓ[t] and the gradient of
//
//   Σ ℓ[t] + (Σ ℓ[t′] − ℓ_greedy[t′] over t′ ≥ t) log a[t, j[t]] − entropy_bonus · H(a[t])   the bracket taken as a constant
#pragma once

#include <memory>
#include <optional>

#include "fovea/models/abilities.h"
#include "fovea/models/cells.h"
#include "fovea/models/copying.h"
#include "fovea/models/source_attention.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"

namespace fovea {

// What an encoder hands on.
struct RecurrentMemory {
  Tensor states, lengths, summary;  // [batch, tokens, memory width], i64 [batch], [batch, memory width]
  RecurrentState first;             // of the decoder
  Tensor ids = {};                  // with a pointer: what may be copied
};

class RecurrentDecoder final {
 public:
  // The fields of a family's config, of which all are given.
  struct Config {
    int64_t vocabulary = 0, embedding = 0, memory_width = 0;
    std::string cell = "lstm";
    int64_t width = 0, layers = 1;
    std::string attention = "additive";
    int64_t attention_width = 0;
    std::string order = "bahdanau";
    bool input_feeding = false;
    std::string selection = "soft", hard_gradient = "straight-through";
    double entropy_bonus = 0;
    bool coverage = false;
    double coverage_loss = 0;
    bool context_gate = false;
    double doubly_stochastic = 0;  // of sources without padding
    bool pointer = false;
    int64_t readout = 0;
    bool tied = false;
    double dropout = 0;
    int64_t padding = 0, unknown = 3;
  };
  explicit RecurrentDecoder(const Config&);

  Tensor logits(const RecurrentMemory&, const Tensor& target_ids, const Context&) const;
  // What is said above; outside of training, and where nothing is added, the cross-entropy of the logits.
  Tensor loss(const RecurrentMemory&, const Tensor& target_ids, const Tensor& wanted_ids, const CrossEntropyOptions&,
              const Context&) const;
  std::unique_ptr<DecoderState> start(const RecurrentMemory&) const;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const;

  Tensor embedded(const Embedding&, const Tensor& ids, const Context&) const;
  Tensor readable(const Tensor& ids) const;
  Embedding& embedding() { return embedding_; }
  const Embedding& embedding() const { return embedding_; }
  void weights(Weights& w);  // all but the embedding
  bool attends() const { return attention_.has_value(); }

 private:
  struct State;
  struct Notes;  // of each step, what training needs beside the logits

  bool bahdanau() const { return config_.order == "bahdanau"; }
  bool feeding() const { return !bahdanau() && config_.input_feeding; }
  bool feeds_back() const;  // whether a step needs more of the one before it than its state
  bool reinforced() const { return config_.selection == "hard" && config_.hard_gradient == "reinforce"; }
  bool adds_to_loss() const;
  State first_state(const RecurrentMemory&) const;
  Tensor decoded(const RecurrentMemory&, const Tensor& target_ids, State&, const Context&) const;  // logits
  Tensor next(State&, const Tensor& ids, const Context&) const;  // of one token for each row
  struct Look {
    Tensor context, weights;  // [batch, steps, …]; weights where something needs them
  };
  Look look(const Tensor& queries, State&, const Context&) const;
  Look attended(const Tensor& queries, State&, const Context&) const;  // before the gate
  // All [batch, steps, …]: y the embedded tokens, s, c and a of the equations above.
  struct Steps {
    Tensor y, after, context, weights;
  };
  Steps advance(const Tensor& y, State&, const Context&) const;
  Tensor readout(const Steps&) const;  // o
  // o of all steps with the tokens given, and the steps.
  std::pair<Tensor, Steps> readouts(const Tensor& y, State&, const Context&) const;
  Tensor output(const Tensor& o, const Steps&, const State&, const Context&) const;

  Config config_;
  Dropout dropout_;
  Embedding embedding_;
  Cells cells_;
  std::optional<SourceAttention> attention_;
  Linear readout_;
  std::optional<Linear> output_, gate_, context_gate_;
};

}  // namespace fovea
