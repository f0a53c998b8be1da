// attend() written down: what the fused kernel must equal.
#include <cmath>
#include <limits>

#include "fovea/attention/check.h"
#include "fovea/attention/probe.h"
#include "fovea/attention/sequences.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

Tensor masked_scores(const Tensor& q, const Tensor& k, const AttentionSizes& n, const AttentionOptions& o) {
  Tensor s = o.form->scores(q.transpose(1, 2), repeat_heads(k, n.group()).transpose(1, 2), o.weights);
  s = s * o.scale.value_or(o.form->scale(n.key_width));
  if (o.softcap > 0) s = tanh(s / o.softcap) * o.softcap;
  if (Tensor bias = dense_bias(o.bias, o.mask, s.shape(), s.dtype())) s = s + bias;
  Tensor hidden = full({}, -std::numeric_limits<double>::infinity(), s.dtype());
  return where(dense_mask(o.mask, n.batch, n.queries, n.keys), s, hidden);
}

// The sink is one more key, whose weight is thrown away.
Tensor log_weights(const Tensor& scores, const Tensor& sinks) {
  if (!sinks) return log_softmax(scores);
  const Shape s = scores.shape();
  Tensor sink = sinks.to(scores.dtype()).reshape({1, s[1], 1, 1}).expand({s[0], s[1], s[2], 1});
  return log_softmax(concat({scores, sink}, -1)).slice(-1, 0, s[3]);
}

// 1 / (1 − p) where a weight stays and 0 where it is dropped, by the same numbers as the kernel's.
Tensor dropout_factors(const Shape& weights, const AttentionOptions& o, const Context& c, DType type) {
  kernels::WeightDropout dropout = attention_dropout(o, c);
  Tensor factors = zeros(weights, DType::f64);
  double* f = factors.data<double>();
  const std::vector<kernels::SequenceSpan> sequences = all_sequences_of(o.mask, weights[0], weights[2], weights[3]);
  for (size_t number = 0; number < sequences.size(); ++number) {
    const kernels::SequenceSpan& s = sequences[number];
    for (int64_t h = 0; h < weights[1]; ++h) {
      for (int64_t i = 0; i < s.queries; ++i) {
        for (int64_t j = 0; j < s.keys; ++j) {
          const bool dropped = kernels::dropped(dropout, static_cast<int64_t>(number), h, i, j);
          f[((s.batch * weights[1] + h) * weights[2] + s.query_begin + i) * weights[3] + s.key_begin + j] =
              dropped ? 0 : 1 / (1 - static_cast<double>(dropout.probability));
        }
      }
    }
  }
  return factors.to(type);
}

// 1 at the selected key and 0 elsewhere, [batch, heads, queries, keys].
Tensor one_hot(const Tensor& selected, const Shape& weights, DType type) {
  Tensor result = zeros(weights, DType::f64);
  std::vector<int64_t> chosen = selected.values<int64_t>();
  for (size_t row = 0; row < chosen.size(); ++row) {
    if (chosen[row] >= 0) result.data<double>()[static_cast<int64_t>(row) * weights[3] + chosen[row]] = 1;
  }
  return result.to(type);
}

// The output of a hard choice, its value the chosen one and its gradient as asked for.
Tensor hard_output(const Tensor& weights, const Tensor& choice, const Tensor& v, HardGradient gradient) {
  if (gradient == HardGradient::straight_through) return matmul(choice + (weights - weights.detach()), v);
  if (gradient == HardGradient::marginal) {
    Tensor mean = matmul(weights, v);
    return mean + (matmul(choice, v) - mean).detach();
  }
  return matmul(choice, v);
}

}  // namespace

AttentionResult attend_by_formula(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o,
                                  const Context& c) {
  const AttentionSizes n = checked_sizes(q, k, v, o);
  Tensor log_w = log_weights(masked_scores(q, k, n, o), o.sinks);
  Tensor w = exp(log_w);
  AttentionResult result;
  if (const Probe* probe = wanted_probe(o, c)) result.probe = probe_weights(w.detach(), *probe);
  Tensor values = repeat_heads(v, n.group()).transpose(1, 2);
  if (o.selection == Selection::hard) {
    result.selected = c.training ? sample(w.detach(), selection_uniforms(w.shape(), c))
                                 : probe_weights(w.detach(), {.argmax = true}).argmax;
    Tensor choice = one_hot(result.selected, w.shape(), w.dtype());
    Tensor chosen_log = where(choice.to(DType::i8), log_w, zeros({}, w.dtype()));
    result.log_probability = sum(chosen_log, {-1});
    result.output = hard_output(w, choice, values, o.hard_gradient).transpose(1, 2);
    return result;
  }
  if (c.training && o.dropout > 0) w = w * dropout_factors(w.shape(), o, c, w.dtype());
  result.output = matmul(w, values).transpose(1, 2);
  return result;
}

}  // namespace fovea
