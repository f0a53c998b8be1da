#include "fovea/models/source_attention.h"

#include <cmath>
#include <limits>

#include "fovea/attention/probe.h"
#include "fovea/models/padding.h"
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

namespace {

Tensor lengths_of(const SourceKeys& s) {
  return s.lengths ? s.lengths : full({s.keys.size(0)}, static_cast<double>(s.keys.size(1)), DType::i64);
}

}  // namespace

void SourceKeys::reorder(std::span<const int64_t> rows) {
  if (packed) packed->reorder(rows);
  if (!keys) return;
  const Tensor order = tensor({static_cast<int64_t>(rows.size())}, std::vector<int64_t>(rows.begin(), rows.end()));
  keys = fovea::rows(keys, order), values = fovea::rows(values, order);
  if (lengths) lengths = fovea::rows(lengths, order);
}

// The values of keys() with coverage have a column for each token behind their own.
void SourceKeys::append(SourceKeys&& other) {
  if (packed) packed->append(std::move(*other.packed));
  if (!keys) return;
  const int64_t tokens = std::max(keys.size(1), other.keys.size(1));
  const int64_t width = std::max(values.size(3), other.values.size(3));
  lengths = concat({lengths_of(*this), lengths_of(other)}, 0);
  keys = concat({padded(keys, 1, tokens), padded(other.keys, 1, tokens)}, 0);
  auto widened = [&](const Tensor& v) { return padded(padded(v, 1, tokens), 3, width); };
  values = concat({widened(values), widened(other.values)}, 0);
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
  if (coverage_) return weighed_keys(states, lengths);
  const Tensor plain = states.unsqueeze(2);
  return {form_->fused_key(plain, form_weights_), plain, lengths, {}, {}};
}

SourceKeys SourceAttention::weighed_keys(const Tensor& states, const Tensor& lengths) const {
  const Tensor plain = states.unsqueeze(2);
  SourceKeys source = {form_->fused_key(plain, form_weights_), plain, lengths, {}, {}, true};
  const int64_t batch = states.size(0), tokens = states.size(1);
  Tensor ones = zeros({1, tokens, 1, tokens}, states.dtype());
  for (int64_t j = 0; j < tokens; ++j) ones.select(1, j).select(2, j).fill(1);
  source.values = concat({plain, ones.expand({batch, tokens, 1, tokens})}, -1);
  return source;
}

SourceKeys SourceAttention::covered(const SourceKeys& source, const Tensor& coverage) const {
  require(source.keys && coverage_, "coverage of attention: found {}, expected keys() of an attention with coverage",
          source.keys ? "an attention without" : "packed keys");
  SourceKeys now = {source.keys, source.values, source.lengths, {}, {}, true};
  if (form_weights_.vector)
    now.keys = source.keys + coverage.transpose(1, 2).unsqueeze(-1) * *coverage_;
  else
    now.bias = coverage.unsqueeze(1) * *coverage_;
  return now;
}

SourceKeys SourceAttention::packed_keys(const Tensor& states, const Tensor& lengths) const {
  std::vector<int64_t> real, starts = {0};
  for (int64_t length : row_lengths(lengths, states.shape())) starts.push_back(starts.back() + length);
  for_each_real(lengths, states.shape(), [&](int64_t place) { real.push_back(place); });
  const Tensor flat = states.reshape({states.size(0) * states.size(1), states.size(2)});
  return packed_keys(rows(flat, tensor({1, starts.back()}, real)), starts);
}

SourceKeys SourceAttention::packed_keys(const Tensor& states, std::span<const int64_t> starts) const {
  const SourceKeys plain = keys(states, {});
  SourceKeys source = {{}, {}, {}, std::make_shared<Cache>(), {}};
  source.packed->begin_memories(starts);
  source.packed->memory_at(this).append(plain.keys, plain.values, *score_, {.vector = form_weights_.vector});
  return source;
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
  return run(queries, source, options(source), c);
}

SourceAttention::Seen SourceAttention::look(const Tensor& queries, const SourceKeys& source, const Context& c) const {
  if (source.weighed) {
    AttentionResult result = (*this)(queries, source, c);
    const Tensor all = result.output.squeeze(2);
    return {all.slice(-1, 0, config_.memory_width), all.slice(-1, config_.memory_width, all.size(-1)),
            std::move(result)};
  }
  const Probe* wanted = c.trace ? c.trace->probe_for(c.place) : nullptr;
  AttentionOptions o = options(source);
  o.probe = Probe{.weights = true, .keep = wanted && wanted->keep};
  Context quiet = c;
  quiet.trace = nullptr;
  AttentionResult result = run(queries, source, o, quiet);
  if (wanted) {
    auto seen = probe_weights(result.probe.weights, *wanted);
    seen.kept = result.probe.kept;
    if (wanted->keep && !seen.kept) seen.weights = result.probe.weights;
    c.trace->add(c.place, std::move(seen));
  }
  return {result.output.squeeze(2), result.probe.weights.squeeze(1), std::move(result)};
}

AttentionResult SourceAttention::run(const Tensor& queries, const SourceKeys& source, const AttentionOptions& o,
                                     const Context& c) const {
  const Tensor q = form_->fused_query(queries.unsqueeze(2), form_weights_);
  if (source.keys) return attend(q, source.keys, source.values, o, c);
  const int64_t rows = q.size(0), steps = q.size(1);
  std::vector<int64_t> starts;
  for (int64_t r = 0; r <= rows; ++r) starts.push_back(r * steps);
  AttentionResult result =
      attend(q.reshape({1, rows * steps, 1, q.size(3)}), source.packed->memory_at(this), starts, o, c);
  result.output = result.output.reshape({rows, steps, 1, result.output.size(3)});
  return result;
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
