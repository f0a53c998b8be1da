// A recurrent decoder's look at the encoder's states, with what depends on them alone computed once.
//
//   SourceAttention attention({.form = "additive", .query_width = 512, .memory_width = 512, .hidden = 512});
//   SourceKeys keys = attention.keys(states, lengths);
//   Tensor context = attention(queries, keys, c).output;           // [batch, queries, 1, memory width]
//
// Each form is a projection of the queries, one of the keys, and a score of the two: a dot product, or vᵀ tanh(q + k).
//
// With coverage (Tu et al. 2016, See, Liu and Manning 2017) a token's score depends on the weight it has had so far, too:
//
//   c[t,j] = Σ a[t′,j] over t′ < t        e[t,j] = vᵀ tanh(q + k + w c[t,j])   or   qᵀ k + w c[t,j]
#pragma once

#include <memory>
#include <span>
#include <string>

#include "fovea/attention/attention.h"
#include "fovea/attention/cache.h"
#include "fovea/nn/weights.h"

namespace fovea {

struct SourceKeys {
  Tensor keys, values;            // [batch, tokens, 1, width]; no tensors if `packed` has them
  Tensor lengths;                 // i64 [batch]; all tokens if not given
  std::shared_ptr<Cache> packed;  // as memories, at the place ""
  Tensor bias = {};               // added to the scores, [batch, 1, 1, tokens]
  bool weighed = false;           // the values are those of weighed_keys()

  void reorder(std::span<const int64_t> rows);
  void append(SourceKeys&& other);  // its rows come behind, padded to one number of tokens where they are not packed
};

class SourceAttention final {
 public:
  struct Config {
    std::string form = "additive";
    int64_t query_width = 0, memory_width = 0, hidden = 0;
    Selection selection = Selection::soft;
    HardGradient hard_gradient = HardGradient::straight_through;
    bool coverage = false;
  };
  explicit SourceAttention(const Config&);

  SourceKeys keys(const Tensor& states, const Tensor& lengths) const;
  // The same on values with a one for each token behind them, so that the fused kernel's output holds the weights, with their
  // gradient, behind the context. With coverage keys() are these.
  SourceKeys weighed_keys(const Tensor& states, const Tensor& lengths) const;
  // In pages, as the fused kernel reads them, for inference step by step; those of states [1, tokens of all rows, width] too.
  SourceKeys packed_keys(const Tensor& states, const Tensor& lengths) const;
  SourceKeys packed_keys(const Tensor& states, std::span<const int64_t> starts) const;

  AttentionResult operator()(const Tensor& queries, const SourceKeys&,
                             const Context&) const;  // [batch, queries, query width]

  // Context and weights, [batch, queries, memory width] and [batch, queries, tokens]; these have a gradient if the keys are
  // weighed_keys(), and are those of the kernel's probe otherwise.
  struct Seen {
    Tensor context, weights;
    AttentionResult result;
  };
  Seen look(const Tensor& queries, const SourceKeys&, const Context&) const;

  // The keys as they are after weights that add up to `coverage`, [batch, 1, tokens].
  SourceKeys covered(const SourceKeys&, const Tensor& coverage) const;
  // H = −Σ w log w of each query's weights, [batch, queries], with its gradient; by the formula, in O(queries × keys) memory.
  Tensor entropy(const Tensor& queries, const SourceKeys&) const;
  void weights(Weights& w);

 private:
  AttentionOptions options(const SourceKeys&) const;
  AttentionResult run(const Tensor& queries, const SourceKeys&, const AttentionOptions&, const Context&) const;

  Config config_;
  const Form* form_;   // as it is named
  const Form* score_;  // of projected queries and keys
  FormWeights form_weights_;
  Weight coverage_;  // w, [hidden] or [1]
};

}  // namespace fovea
