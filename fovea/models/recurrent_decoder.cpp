#include "fovea/models/recurrent_decoder.h"

#include <algorithm>

#include "fovea/models/padding.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

using Config = RecurrentDecoder::Config;

Lstm::Config cells_config(const Config& c) {
  const int64_t beside = c.order == "bahdanau" ? c.memory_width : c.input_feeding ? c.readout : 0;
  return {.inputs = c.embedding + beside, .width = c.width, .layers = c.layers, .dropout = c.dropout};
}

int64_t readout_inputs(const Config& c) { return c.width + c.memory_width + (c.order == "bahdanau" ? c.embedding : 0); }

HardGradient hard_gradient(const Config& c) {
  if (c.hard_gradient == "marginal") return HardGradient::marginal;
  return c.hard_gradient == "reinforce" ? HardGradient::reinforce : HardGradient::straight_through;
}

// What a step changes.
struct Moving {
  RecurrentState cells;
  Tensor fed;       // o[t−1], [batch, 1, readout]
  Tensor coverage;  // Σ of the weights so far, [batch, 1, tokens]

  void pick(const Tensor& order) {
    cells = picked(cells, order);
    if (fed) fed = rows(fed, order);
    if (coverage) coverage = rows(coverage, order);
  }
  void join(const Moving& behind) {
    cells = joined(cells, behind.cells);
    if (fed) fed = concat({fed, behind.fed}, 0);
    if (coverage) coverage = concat({coverage, behind.coverage}, 0);
  }
};

}  // namespace

// One tensor for each call of look(), [batch, steps].
struct RecurrentDecoder::Notes {
  std::vector<Tensor> log_probabilities, entropies, repetitions;
  std::vector<Tensor> weights;  // [batch, steps, tokens]
};

// `packed` serves every step with the weights as they were at the start.
struct RecurrentDecoder::State final : DecoderState, Moving {
  Tensor summary;  // c[t] without attention, [batch, 1, memory width]
  Tensor ids;      // with a pointer: what may be copied, [batch, tokens]
  SourceKeys keys;
  std::vector<PackedCell> packed;
  Notes* notes = nullptr;  // written if given
  bool greedy = false;     // hard choices are the most probable ones in training, too

  int64_t rows() const override { return summary.size(0); }
  void reorder(std::span<const int64_t> rows) override {
    const Tensor order = tensor({static_cast<int64_t>(rows.size())}, std::vector<int64_t>(rows.begin(), rows.end()));
    pick(order);
    summary = fovea::rows(summary, order);
    if (ids) ids = fovea::rows(ids, order);
    keys.reorder(rows);
  }
  void append(DecoderState&& given) override {
    State& other = dynamic_cast<State&>(given);
    if (coverage) {
      const int64_t tokens = std::max(coverage.size(2), other.coverage.size(2));
      coverage = padded(coverage, 2, tokens), other.coverage = padded(other.coverage, 2, tokens);
    }
    join(other);
    summary = concat({summary, other.summary}, 0);
    if (ids) ids = joined_ids(ids, other.ids);
    keys.append(std::move(other.keys));
  }
};

RecurrentDecoder::RecurrentDecoder(const Config& c)
    : config_(c),
      dropout_(c.dropout),
      embedding_({.entries = c.vocabulary, .width = c.embedding, .padding = c.padding}),
      cells_(c.cell, cells_config(c)),
      readout_({.inputs = readout_inputs(c), .outputs = c.readout, .bias = bahdanau()}) {
  if (!c.tied) output_.emplace(Linear::Config{c.readout, c.vocabulary, true});
  if (c.pointer) gate_.emplace(Linear::Config{c.memory_width + c.width + c.embedding, 1, true});
  if (c.context_gate) context_gate_.emplace(Linear::Config{c.width, 1, true});
  if (c.attention == "none") return;
  attention_.emplace(SourceAttention::Config{.form = c.attention,
                                             .query_width = c.width,
                                             .memory_width = c.memory_width,
                                             .hidden = c.attention_width,
                                             .selection = c.selection == "hard" ? Selection::hard : Selection::soft,
                                             .hard_gradient = hard_gradient(c),
                                             .coverage = c.coverage});
}

void RecurrentDecoder::weights(Weights& w) {
  w("decoder", cells_);
  if (attention_) w("attention", *attention_);
  w("readout", readout_);
  if (output_) w("output", *output_);
  if (gate_) w("gate", *gate_);
  if (context_gate_) w("context_gate", *context_gate_);
}

bool RecurrentDecoder::feeds_back() const {
  return feeding() || config_.coverage || (bahdanau() && (attention_ || context_gate_));
}

bool RecurrentDecoder::adds_to_loss() const {
  return attention_ && (reinforced() || config_.coverage_loss > 0 || config_.doubly_stochastic > 0);
}

Tensor RecurrentDecoder::embedded(const Embedding& words, const Tensor& ids, const Context& c) const {
  require(ids && ids.rank() == 2 && ids.dtype() == DType::i64,
          "recurrent decoder: found ids {}, expected I64 [batch, tokens]", ids ? ids.shape().text() : "missing");
  return dropout_(words(ids), c.at("embedding"));
}

Tensor RecurrentDecoder::readable(const Tensor& ids) const {
  return config_.pointer ? readable_ids(ids, config_.vocabulary, config_.unknown) : ids;
}

RecurrentDecoder::State RecurrentDecoder::first_state(const RecurrentMemory& m) const {
  State s;
  s.cells = m.first;
  s.summary = m.summary.unsqueeze(1);
  s.ids = m.ids;
  if (feeding()) s.fed = zeros({m.summary.size(0), 1, config_.readout}, m.summary.dtype());
  if (config_.coverage) s.coverage = zeros({m.states.size(0), 1, m.states.size(1)}, m.states.dtype());
  if (m.summary.dtype() == DType::f32) s.packed = cells_.pack();
  return s;
}

RecurrentDecoder::Look RecurrentDecoder::look(const Tensor& queries, State& s, const Context& c) const {
  Look seen = attended(queries, s, c);
  if (context_gate_) seen.context = sigmoid((*context_gate_)(queries)) * seen.context;
  return seen;
}

RecurrentDecoder::Look RecurrentDecoder::attended(const Tensor& queries, State& s, const Context& context) const {
  if (!attention_) return {s.summary.expand({queries.size(0), queries.size(1), config_.memory_width}), {}};
  Context c = context.at("attention");
  c.training = c.training && !s.greedy;
  const SourceKeys covered = s.coverage ? attention_->covered(s.keys, s.coverage) : SourceKeys{};
  const SourceKeys& keys = s.coverage ? covered : s.keys;
  const bool weighed = s.coverage || config_.pointer || keys.weighed;
  const SourceAttention::Seen seen =
      weighed ? attention_->look(queries, keys, c) : SourceAttention::Seen{{}, {}, (*attention_)(queries, keys, c)};
  if (s.notes && reinforced() && !s.greedy) {
    s.notes->log_probabilities.push_back(seen.result.log_probability.squeeze(1));
    if (config_.entropy_bonus > 0) s.notes->entropies.push_back(attention_->entropy(queries, keys));
  }
  if (!weighed) return {seen.result.output.squeeze(2), {}};
  if (s.notes && config_.doubly_stochastic > 0) s.notes->weights.push_back(seen.weights);
  if (s.coverage) {
    if (s.notes) s.notes->repetitions.push_back(sum(minimum(seen.weights, s.coverage), {-1}));
    s.coverage = s.coverage + seen.weights;
  }
  return {seen.context, seen.weights};
}

// The equations at the top of the header. Several steps at once where none needs more of the one before than its state.
RecurrentDecoder::Steps RecurrentDecoder::advance(const Tensor& y, State& s, const Context& c) const {
  const RecurrentOptions from = {.first = s.cells, .packed = s.packed.empty() ? nullptr : &s.packed};
  auto run = [&](const Tensor& x) {
    RecurrentOutput out = cells_(x, c, from);
    s.cells = out.last;
    return out.outputs;
  };
  if (bahdanau()) {
    const Tensor before = s.cells.hidden.select(0, config_.layers - 1).unsqueeze(1);
    const Look seen = look(attention_ || context_gate_ ? before : y, s, c);
    return {y, run(concat({y, seen.context}, -1)), seen.context, seen.weights};
  }
  const Tensor after = run(feeding() ? concat({y, s.fed}, -1) : y);
  const Look seen = look(after, s, c);
  return {y, after, seen.context, seen.weights};
}

Tensor RecurrentDecoder::readout(const Steps& s) const {
  if (bahdanau()) return readout_(concat({s.after, s.context, s.y}, -1), Activation::tanh);
  return readout_(concat({s.context, s.after}, -1), Activation::tanh);
}

// What no step waits for is left for one product over all of them.
std::pair<Tensor, RecurrentDecoder::Steps> RecurrentDecoder::readouts(const Tensor& y, State& s,
                                                                      const Context& c) const {
  if (!feeds_back()) {
    const Steps all = advance(y, s, c);
    return {readout(all), all};
  }
  const std::vector<Tensor> each = split(y, 1, std::vector<int64_t>(static_cast<size_t>(y.size(1)), 1));
  std::vector<Tensor> afters, contexts, weights, fed;
  for (size_t t = 0; t < each.size(); ++t) {
    Context now = c;
    now.random = c.random.fork(static_cast<uint64_t>(t));
    const Steps step = advance(each[t], s, now);
    afters.push_back(step.after), contexts.push_back(step.context), weights.push_back(step.weights);
    if (feeding()) fed.push_back(s.fed = readout(step));
  }
  const Steps all = {y, concat(afters, 1), concat(contexts, 1), config_.pointer ? concat(weights, 1) : Tensor()};
  return {feeding() ? concat(fed, 1) : readout(all), all};
}

Tensor RecurrentDecoder::output(const Tensor& o, const Steps& steps, const State& s, const Context& c) const {
  const Tensor x = dropout_(o, c.at("readout"));
  const Tensor logits = output_ ? (*output_)(x) : embedding_.as_output(x);
  if (!gate_) return logits;
  const Tensor gate = (*gate_)(concat({steps.context, steps.after, steps.y}, -1));
  return with_copies(logits, gate, steps.weights, s.ids, c);
}

Tensor RecurrentDecoder::logits(const RecurrentMemory& m, const Tensor& target_ids, const Context& context) const {
  State s = first_state(m);
  return decoded(m, target_ids, s, context);
}

Tensor RecurrentDecoder::decoded(const RecurrentMemory& m, const Tensor& target_ids, State& s,
                                 const Context& context) const {
  const bool learns = context.training || m.states.needs_gradient();
  if (attention_ && (config_.pointer || config_.doubly_stochastic > 0) && learns)
    s.keys = attention_->weighed_keys(m.states, m.lengths);
  else if (attention_)
    s.keys = attention_->keys(m.states, m.lengths);
  const Context c = context.at("decoder");
  const Tensor y = embedded(embedding_, readable(target_ids), c);
  require(y.size(1) > 0, "recurrent decoder: found targets {}, expected at least one token", target_ids.shape());
  const auto [o, steps] = readouts(y, s, c);
  return output(o, steps, s, c);
}

namespace {

// Σ x[t′] over t′ ≥ t, [batch, steps], without a gradient.
Tensor from_here_on(const Tensor& x) {
  Tensor sums = x.detach().clone();
  for (int64_t t = x.size(1) - 2; t >= 0; --t) {
    Tensor now = sums.slice(1, t, t + 1);
    now.copy_from(now + sums.slice(1, t + 1, t + 2));
  }
  return sums;
}

// 1 where a loss counts, 0 where the token that is wanted is ignored.
Tensor counting(const Tensor& wanted_ids, int64_t ignored, DType type) {
  std::vector<double> counts;
  for (int64_t id : wanted_ids.values<int64_t>()) counts.push_back(id == ignored ? 0 : 1);
  return tensor(wanted_ids.shape(), counts).to(type);
}

}  // namespace

// The parts are in the header. What is added for its gradient alone is taken off again from the value.
Tensor RecurrentDecoder::loss(const RecurrentMemory& m, const Tensor& target_ids, const Tensor& wanted_ids,
                              const CrossEntropyOptions& options, const Context& context) const {
  if (!context.training || !adds_to_loss()) return cross_entropy(logits(m, target_ids, context), wanted_ids, options);
  require(options.reduction != Reduction::none,
          "recurrent decoder: found a loss for each token, expected their sum or mean");
  const Tensor counts = counting(wanted_ids, options.ignored, embedding_.weight().dtype());
  auto costs_of = [&](State& s, const Context& c) {
    const Tensor logits = decoded(m, target_ids, s, c);
    const Tensor each = cross_entropy(logits, wanted_ids, {options.smoothing, options.ignored, Reduction::none});
    if (config_.coverage_loss == 0) return each;
    return each + config_.coverage_loss * counts * concat(s.notes->repetitions, 1);
  };
  Notes notes, greedy_notes;
  State sampled = first_state(m);
  sampled.notes = &notes;
  const Tensor costs = costs_of(sampled, context);
  Tensor total = sum(costs);
  if (config_.doubly_stochastic > 0) {
    const Tensor missing = 1.0 - sum(counts.unsqueeze(-1) * concat(notes.weights, 1), {1});
    total = total + config_.doubly_stochastic * sum(missing * missing);
  }
  if (reinforced()) {
    State greedy = first_state(m);
    greedy.notes = &greedy_notes, greedy.greedy = true;
    Context quiet = context;
    quiet.trace = nullptr;
    const Tensor advantage = from_here_on(costs) - from_here_on(costs_of(greedy, quiet));
    Tensor more = sum(advantage * concat(notes.log_probabilities, 1));
    if (config_.entropy_bonus > 0) more = more - config_.entropy_bonus * sum(counts * concat(notes.entropies, 1));
    total = total + (more - more.detach());
  }
  return options.reduction == Reduction::sum ? total : total / std::max(1.0, sum(counts).item());
}

std::unique_ptr<DecoderState> RecurrentDecoder::start(const RecurrentMemory& m) const {
  auto s = std::make_unique<State>(first_state(m));
  if (attention_)
    s->keys = config_.coverage ? attention_->keys(m.states, m.lengths) : attention_->packed_keys(m.states, m.lengths);
  return s;
}

Tensor RecurrentDecoder::next(State& s, const Tensor& ids, const Context& c) const {
  const Steps step = advance(embedded(embedding_, readable(ids.unsqueeze(1)), c), s, c);
  const Tensor o = readout(step);
  if (feeding()) s.fed = o;
  const Tensor y = output(o, step, s, c).squeeze(1);
  // Weights in training would let the tape grow with every step.
  s.cells = {s.cells.hidden.detach(), s.cells.cell.detach()}, s.fed = s.fed.detach(), s.coverage = s.coverage.detach();
  return y;
}

// Token after token; a row that has no more of them keeps what it had.
Tensor RecurrentDecoder::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
                               const Context& context) const {
  const Context c = context.at("decoder");
  State& s = dynamic_cast<State&>(state);
  const std::vector<int64_t> last = last_tokens(ids, starts);
  const int64_t rows = s.rows();
  require(static_cast<int64_t>(last.size()) == rows, "recurrent decoder: found tokens for {} rows, expected {}",
          last.size(), rows);
  Tensor logits;
  for (int64_t t = 0, open = rows; open > 0; ++t) {
    std::vector<int64_t> places, newest;
    open = 0;
    bool all = true;
    for (size_t r = 0; r < last.size(); ++r) {
      const int64_t place = starts[r] + t;
      places.push_back(std::min(place, last[r]));
      newest.push_back(static_cast<int64_t>(r) + (place <= last[r] ? rows : 0));
      all = all && place <= last[r], open += place < last[r];
    }
    Moving moved = s;
    const Tensor y = next(s, fovea::rows(ids, tensor({rows}, places)), c);
    if (!all) {
      const Tensor order = tensor({rows}, newest);
      moved.join(s);
      moved.pick(order);
      static_cast<Moving&>(s) = moved;
      logits = fovea::rows(concat({logits, y}, 0), order);
    } else {
      logits = y;
    }
  }
  return logits;
}

}  // namespace fovea
