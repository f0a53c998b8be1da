// The one attention call: every form, selection, mask and bias, through one fused kernel that also returns the exact weights
// that were asked for.
//
//   Tensor y = attend(q, k, v, {.mask = {.causal = true}}, context).output;
//   Tensor w = attend(q, k, v, {.form = &additive, .weights = w, .probe = Probe{.weights = true}}, context).probe.weights;
//
// q [batch, queries, heads, width], k [batch, keys, key heads, width], v [batch, keys, key heads, value width] →
// output [batch, queries, heads, value width]. Any strides; heads is a multiple of key heads, which are never copied.
#pragma once

#include <optional>
#include <span>

#include "fovea/attention/bias.h"
#include "fovea/attention/form.h"
#include "fovea/attention/mask.h"
#include "fovea/nn/context.h"

namespace fovea {

class KeyCache;  // cache.h

// soft: the weighted mean of the values. hard: the value of one key, drawn from the weights when training, the one with the
// largest weight otherwise (Xu et al. 2015).
enum class Selection { soft, hard };

// Where the gradient of a hard choice comes from.
enum class HardGradient {
  reinforce,         // only from log_probability, which the caller multiplies by a reward (Williams 1992)
  marginal,          // that of the expected output Σ w v, exact for a loss that is linear in the output
  straight_through,  // the weights' as if they had been used, the values' of the choice (Bengio, Léonard and Courville 2013)
};

struct AttentionOptions {
  const Form* form = &scaled_dot;
  FormWeights weights = {};          // of the form, if it has any
  std::optional<double> scale = {};  // of the scores; the form's own if not given
  Selection selection = Selection::soft;
  HardGradient hard_gradient = HardGradient::reinforce;
  Mask mask = {};
  Bias bias = {};
  double softcap = 0;               // scores become softcap · tanh(scores / softcap)
  Tensor sinks = {};                // [heads]: a logit that takes weight away without a value
  double dropout = 0;               // of the weights, when training
  std::optional<Probe> probe = {};  // what to return of the weights (before dropout)
  // bf16: of its products, f16: of keys and values (kernels/attention.h); f32 for gradients and hard choices.
  Precision precision = Precision::f32;
  Weight output = {};  // what the heads' results are multiplied by behind it, for those who keep the attention
};

struct AttentionResult {
  Tensor output;
  ProbeResult probe = {};       // what options.probe, or else the context's trace, asked for
  Tensor selected = {};         // hard: i64 [batch, heads, queries], −1 where a query sees nothing
  Tensor log_probability = {};  // hard: of the selected key, [batch, heads, queries], with gradient
};

AttentionResult attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions&, const Context&);

// The same over keys and values that a cache holds: q [1, tokens, heads, width], tokens [starts[r], starts[r + 1]) of which
// are the cache's row r and stand at the last of its keys. Masks, biases and probes have a row for each of the cache's:
// [rows, heads, queries, keys], of the most queries and keys that a row has. No gradient; hard selection takes the key with
// the largest weight, selected and log_probability are [1, heads, tokens].
AttentionResult attend(const Tensor& q, const KeyCache&, std::span<const int64_t> starts, const AttentionOptions&,
                       const Context&);

// What attend() means, written as tensor operations: O(queries × keys) memory, f32 or f64. The fused kernel is held to it;
// attend() itself runs it for f64 tensors.
AttentionResult attend_by_formula(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions&,
                                  const Context&);

}  // namespace fovea
