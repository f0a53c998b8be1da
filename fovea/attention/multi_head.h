// Multi-head attention (Vaswani et al. 2017): project to queries, keys and values, attend in each head, project back.
//
//   MultiHeadAttention attention({.width = 512, .heads = 8});
//   Tensor y = attention(x, {.mask = {.causal = true}}, context);        // self;  cross: attention(x, memory, {}, context)
//
// With a cache in the context, x is the tokens that the cache's step adds, [1, tokens of all rows, width]. Self-attention
// appends their keys and values to its own part of the cache and attends over all that are there (so causal stays .causal);
// cross-attention looks at what it was given to remember():
//
//   cache.begin_memories(starts);   attention.remember(memories, context);   Tensor y = attention(x, {}, {}, context);
#pragma once

#include <optional>
#include <string>

#include "fovea/attention/place.h"
#include "fovea/attention/self_attention.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/positions.h"

namespace fovea {

class MultiHeadAttention final {
 public:
  // What files call its four projections.
  struct Names {
    std::string query = "query", key = "key", value = "value", output = "output";
  };
  struct Config {
    int64_t width = 0, heads = 1;
    int64_t key_heads = 0;              // fewer than heads: grouped queries (Ainslie et al. 2023); 0: as many as heads
    int64_t head_width = 0;             // 0: width / heads
    int64_t memory_width = 0;           // of what keys and values are made from; 0: width
    bool bias = true, key_bias = true;  // keys may be without one where the others have it
    std::string form = "scaled-dot";
    int64_t form_width = 0;  // hidden width of additive and concat scores; 0: head_width
    double dropout = 0;      // of the attention weights, in training
    bool rotary = false;     // queries and keys turn with their positions
    double rotary_base = 10000;
    int64_t rotary_width = 0;  // how many elements of a head turn; 0: all
    bool rotary_interleaved = false;
    Names names = {};
  };
  explicit MultiHeadAttention(const Config&);

  // Form, its weights and dropout are the module's; the rest of the options (mask, bias, selection, softcap …) the caller's.
  Tensor operator()(const Tensor& x, const AttentionOptions&, const Context&) const;
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionOptions&, const Context&) const;

  // The same with what else attend() returns: probes, and the choices of hard attention.
  AttentionResult attend_with(const Tensor& x, const AttentionOptions&, const Context&) const;
  AttentionResult attend_with(const Tensor& x, const Tensor& memory, const AttentionOptions&, const Context&) const;

  // Puts the keys and values of all rows' memories, [1, tokens, memory width], into the context's cache.
  void remember(const Tensor& memories, const Context&) const;

  void weights(Weights& w);
  void places(const Places& p, Place place) const {  // what its rows and columns are, the caller knows
    place.heads = config_.heads, place.key_heads = config_.key_heads;
    p.add(std::move(place));
  }

 private:
  Projected project(const Tensor& x, std::span<const int64_t> positions) const;  // what attends to itself
  Projected project_memory(const Tensor& memory) const;                          // no queries
  Tensor queries(const Tensor& x) const;
  Tensor in_heads(const Tensor& y) const;
  AttentionOptions options_for(const AttentionOptions&) const;
  AttentionResult finish(AttentionResult) const;

  Config config_;
  const Form* form_;
  FormWeights form_weights_;
  std::optional<RotaryPositions> rotary_;
  Linear query_, key_, value_, output_;
};

}  // namespace fovea
