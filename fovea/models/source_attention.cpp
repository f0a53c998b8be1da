#include "fovea/models/source_attention.h"

#include <cmath>
#include <limits>

#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

// What remains of additive and concat attention once queries and keys are projected:  vᵀ tanh(q + k)
const Form projected_additive = {
    .name = "additive",
    .formula = "vᵀ tanh(q + k)",
    .paper = "Bahdanau, Cho and Bengio 2014",
    .scores =
        [](const Tensor& q, const Tensor& k, const FormWeights& w) {
          const Tensor v = w.vector->unsqueeze(1).unsqueeze(-1);
          return matmul(tanh(q.unsqueeze(3) + k.unsqueeze(2)), v).squeeze(-1);
        },
    .score = FusedScore::additive,
    .shapes =
        [](const FormSizes& s) {
          return FormShapes{.vector = {s.heads, s.hidden}};
        },
};

}  // namespace

void SourceKeys::reorder(const Tensor& batch_rows) {
  if (keys) keys = rows(keys, batch_rows), values = rows(values, batch_rows);
  if (lengths) lengths = rows(lengths, batch_rows);
  cache.reorder(batch_rows);
}

SourceAttention::SourceAttention(const Config& c)
    : config_(c),
      form_(&find<Form>(c.form)),
      score_(form_->score == FusedScore::additive ? &projected_additive : &dot) {
  form_weights_ =
      form_->weights({.heads = 1, .query_width = c.query_width, .key_width = c.memory_width, .hidden = c.hidden});
  require(form_weights_.query || c.query_width == c.memory_width,
          "{} attention: found a decoder of width {} and encoder states of width {}, expected equal ones; general, "
          "additive and concat take any",
          c.form, c.query_width, c.memory_width);
  if (c.coverage) coverage_ = Weight({form_weights_.vector ? form_weights_.vector.size(-1) : 1});
}

void SourceAttention::weights(Weights& w) {
  auto uniform = [](const Weight& weight) {
    const double ends = static_cast<double>(weight.size(-1) + (weight.rank() == 3 ? weight.size(1) : 1));
    return Init{.kind = Init::uniform, .scale = std::sqrt(6 / ends)};
  };
  if (form_weights_.query) w("query", form_weights_.query, uniform(form_weights_.query));
  if (form_weights_.key) w("key", form_weights_.key, uniform(form_weights_.key));
  if (form_weights_.vector) w("vector", form_weights_.vector, uniform(form_weights_.vector));
  if (coverage_) w("coverage", coverage_, form_weights_.vector ? uniform(coverage_) : Init{Init::zeros});
}

SourceKeys SourceAttention::keys(const Tensor& states, const Tensor& lengths) const {
  const Tensor plain = states.unsqueeze(2);
  SourceKeys source = {form_->fused_key(plain, form_weights_), plain, lengths, {}};
  if (!coverage_) return source;
  const int64_t batch = states.size(0), tokens = states.size(1);
  Tensor ones = zeros({1, tokens, 1, tokens}, states.dtype());
  for (int64_t j = 0; j < tokens; ++j) ones.select(1, j).select(2, j).fill(1);
  source.values = concat({plain, ones.expand({batch, tokens, 1, tokens})}, -1);
  return source;
}

SourceKeys SourceAttention::covered(const SourceKeys& source, const Tensor& coverage) const {
  require(source.keys && coverage_, "coverage of attention: found {}, expected keys() of an attention with coverage",
          source.keys ? "an attention without" : "packed keys");
  SourceKeys now = {source.keys, source.values, source.lengths, {}};
  if (form_weights_.vector)
    now.keys = source.keys + coverage.transpose(1, 2).unsqueeze(-1) * *coverage_;
  else
    now.bias = coverage.unsqueeze(1) * *coverage_;
  return now;
}

SourceKeys SourceAttention::packed_keys(const Tensor& states, const Tensor& lengths) const {
  const SourceKeys plain = keys(states, lengths);
  SourceKeys packed;
  packed.lengths = lengths;
  packed.cache.append(plain.keys, plain.values, *score_, {.vector = form_weights_.vector});
  return packed;
}

AttentionOptions SourceAttention::options(const SourceKeys& source) const {
  return {.form = score_,
          .weights = {.vector = form_weights_.vector},
          .scale = form_->scale(config_.memory_width),
          .selection = config_.selection,
          .hard_gradient = config_.hard_gradient,
          .mask = {.key_lengths = source.lengths},
          .bias = {.added = source.bias}};
}

AttentionResult SourceAttention::operator()(const Tensor& queries, const SourceKeys& source, const Context& c) const {
  const Tensor q = form_->fused_query(queries.unsqueeze(2), form_weights_);
  return source.keys ? attend(q, source.keys, source.values, options(source), c)
                     : attend(q, source.cache, options(source), c);
}

// 0 log 0 = 0: a hidden key's logarithm is replaced before it meets its weight, so that no 0 · ∞ is on the way back.
Tensor SourceAttention::entropy(const Tensor& queries, const SourceKeys& source) const {
  require(static_cast<bool>(source.keys), "entropy of attention: found packed keys, expected those of keys()");
  const AttentionOptions o = options(source);
  const Tensor q = form_->fused_query(queries.unsqueeze(2), form_weights_).transpose(1, 2);
  Tensor scores = o.form->scores(q, source.keys.transpose(1, 2), o.weights) * *o.scale;
  if (source.bias) scores = scores + source.bias;
  const Tensor seen = dense_mask(o.mask, scores.size(0), scores.size(2), scores.size(3));
  const Tensor hidden = full({}, -std::numeric_limits<double>::infinity(), scores.dtype());
  const Tensor logs = log_softmax(where(seen, scores, hidden));
  return -sum(exp(logs) * where(seen, logs, zeros({}, logs.dtype())), {-1}).squeeze(1);
}

}  // namespace fovea
