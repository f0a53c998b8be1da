// What the fused call and the formula share about looking at weights, choosing from them and dropping them.
#pragma once

#include "fovea/attention/attention.h"
#include "fovea/kernels/attention.h"

namespace fovea {

// What this call was asked to return of its weights, by its options or by the context's trace; null if nothing.
const Probe* wanted_probe(const AttentionOptions&, const Context&);

// The chosen heads and rows of a probe, written out, and its keys; an Error if they lie outside.
struct ProbeSelection {
  std::vector<int64_t> heads, rows;
  Range keys;
};
ProbeSelection selection_of(const Probe&, int64_t heads, int64_t queries, int64_t keys);

// The probe of a whole matrix of weights [batch, heads, queries, keys].
ProbeResult probe_weights(const Tensor& weights, const Probe&);

// One uniform number in [0, 1) for each row of weights [batch, heads, queries, …], f32.
Tensor selection_uniforms(const Shape& weights, const Context&);

// The first key whose running sum of weights exceeds u times their sum, i64 [batch, heads, queries]; −1 for a row of zeros.
Tensor sample(const Tensor& weights, const Tensor& uniforms);

kernels::WeightDropout attention_dropout(const AttentionOptions&, const Context&);

kernels::ScoreKind kernel_score(const Form&);

// What the products run in on the instruction set in use, and so what a cache keeps.
Precision kernel_precision(const AttentionOptions&);

}  // namespace fovea
