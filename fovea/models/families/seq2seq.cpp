#include "fovea/models/families/seq2seq.h"

#include <algorithm>

#include "fovea/models/padding.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

using Config = Seq2Seq::Config;

Lstm::Config encoder_config(const Config& c) {
  return {.inputs = c.embedding,
          .width = c.encoder_width,
          .layers = c.encoder_layers,
          .bidirectional = c.bidirectional,
          .dropout = c.dropout};
}

Lstm::Config decoder_config(const Config& c) {
  const int64_t memory = (c.bidirectional ? 2 : 1) * c.encoder_width;
  const int64_t beside = c.order == "bahdanau" ? memory : c.input_feeding ? c.readout : 0;
  return {.inputs = c.embedding + beside, .width = c.decoder_width, .layers = c.decoder_layers, .dropout = c.dropout};
}

int64_t readout_inputs(const Config& c) {
  const int64_t memory = (c.bidirectional ? 2 : 1) * c.encoder_width;
  return c.decoder_width + memory + (c.order == "bahdanau" ? c.embedding : 0);
}

HardGradient hard_gradient(const Config& c) {
  if (c.hard_gradient == "marginal") return HardGradient::marginal;
  return c.hard_gradient == "reinforce" ? HardGradient::reinforce : HardGradient::straight_through;
}

// [batch, layers · width] → [layers, batch, width]
Tensor by_layer(const Tensor& x, int64_t layers) {
  return x.reshape({x.size(0), layers, x.size(1) / layers}).transpose(0, 1).contiguous();
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
struct Seq2Seq::Notes {
  std::vector<Tensor> log_probabilities, entropies, repetitions;
};

// `packed` serves every step with the weights as they were at the start.
struct Seq2Seq::State final : DecoderState, Moving {
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

Seq2Seq::Seq2Seq(const Config& given)
    : config_(given.completed()),
      dropout_(config_.dropout),
      embedding_({.entries = config_.vocabulary, .width = config_.embedding, .padding = config_.padding}),
      encoder_(config_.cell, encoder_config(config_)),
      decoder_(config_.cell, decoder_config(config_)),
      bridge_({.inputs = memory_width(), .outputs = config_.decoder_layers * config_.decoder_width}),
      readout_({.inputs = readout_inputs(config_), .outputs = config_.readout, .bias = bahdanau()}) {
  const Config& c = config_;
  if (!c.tied) {
    source_embedding_.emplace(
        Embedding::Config{.entries = c.source_vocabulary, .width = c.embedding, .padding = c.padding});
    output_.emplace(Linear::Config{c.readout, c.vocabulary, true});
  }
  if (c.cell == "lstm") cell_bridge_.emplace(Linear::Config{memory_width(), c.decoder_layers * c.decoder_width, true});
  if (c.pointer) gate_.emplace(Linear::Config{memory_width() + c.decoder_width + c.embedding, 1, true});
  if (c.attention == "none") return;
  attention_.emplace(SourceAttention::Config{.form = c.attention,
                                             .query_width = c.decoder_width,
                                             .memory_width = memory_width(),
                                             .hidden = c.attention_width,
                                             .selection = c.selection == "hard" ? Selection::hard : Selection::soft,
                                             .hard_gradient = hard_gradient(c),
                                             .coverage = c.coverage});
}

void Seq2Seq::weights(Weights& w) {
  w("embedding", embedding_);
  if (source_embedding_) w("source_embedding", *source_embedding_);
  w("encoder", encoder_);
  w("bridge", bridge_);
  if (cell_bridge_) w("cell_bridge", *cell_bridge_);
  w("decoder", decoder_);
  if (attention_) w("attention", *attention_);
  w("readout", readout_);
  if (output_) w("output", *output_);
  if (gate_) w("gate", *gate_);
}

bool Seq2Seq::feeds_back() const { return feeding() || config_.coverage || (bahdanau() && attention_); }

Tensor Seq2Seq::embedded(const Embedding& words, const Tensor& ids, const Context& c) const {
  require(ids && ids.rank() == 2 && ids.dtype() == DType::i64, "seq2seq: found ids {}, expected I64 [batch, tokens]",
          ids ? ids.shape().text() : "missing");
  return dropout_(words(ids), c.at("embedding"));
}

Tensor Seq2Seq::readable(const Tensor& ids) const {
  return config_.pointer ? readable_ids(ids, config_.vocabulary, config_.unknown) : ids;
}

Seq2Seq::Encoded Seq2Seq::encoded(const Source& source, const Context& context) const {
  const Context c = context.at("encoder");
  const Tensor x =
      c.entering("source", embedded(source_embedding_ ? *source_embedding_ : embedding_, readable(source.ids), c));
  const RecurrentOutput read = encoder_(x, c, {.lengths = source.lengths});
  const int64_t directions = config_.bidirectional ? 2 : 1, layers = config_.decoder_layers;
  Encoded e = {read.outputs, source.lengths, top_states(read.last.hidden, directions), {}, {}};
  if (config_.pointer) e.ids = ids_to_copy(source);
  e.first.hidden = by_layer(bridge_(e.summary, Activation::tanh), layers);
  if (cell_bridge_) e.first.cell = by_layer((*cell_bridge_)(top_states(read.last.cell, directions)), layers);
  return e;
}

Tensor Seq2Seq::encode(const Source& source, const Context& c) const { return encoded(source, c).states; }

Seq2Seq::State Seq2Seq::first_state(const Encoded& e) const {
  State s;
  s.cells = e.first;
  s.summary = e.summary.unsqueeze(1);
  s.ids = e.ids;
  if (feeding()) s.fed = zeros({e.summary.size(0), 1, config_.readout}, e.summary.dtype());
  if (config_.coverage) s.coverage = zeros({e.states.size(0), 1, e.states.size(1)}, e.states.dtype());
  if (e.summary.dtype() == DType::f32) s.packed = decoder_.pack();
  return s;
}

Seq2Seq::Look Seq2Seq::look(const Tensor& queries, State& s, const Context& context) const {
  if (!attention_) return {s.summary.expand({queries.size(0), queries.size(1), memory_width()}), {}};
  Context c = context.at("attention");
  c.training = c.training && !s.greedy;
  const SourceKeys covered = s.coverage ? attention_->covered(s.keys, s.coverage) : SourceKeys{};
  const SourceKeys& keys = s.coverage ? covered : s.keys;
  const bool weighed = s.coverage || config_.pointer;
  const SourceAttention::Seen seen =
      weighed ? attention_->look(queries, keys, c) : SourceAttention::Seen{{}, {}, (*attention_)(queries, keys, c)};
  if (s.notes && reinforced() && !s.greedy) {
    s.notes->log_probabilities.push_back(seen.result.log_probability.squeeze(1));
    if (config_.entropy_bonus > 0) s.notes->entropies.push_back(attention_->entropy(queries, keys));
  }
  if (!weighed) return {seen.result.output.squeeze(2), {}};
  if (s.coverage) {
    if (s.notes) s.notes->repetitions.push_back(sum(minimum(seen.weights, s.coverage), {-1}));
    s.coverage = s.coverage + seen.weights;
  }
  return {seen.context, seen.weights};
}

// The equations at the top of the header. Several steps at once where none needs more of the one before than its state.
Seq2Seq::Steps Seq2Seq::advance(const Tensor& y, State& s, const Context& c) const {
  const RecurrentOptions from = {.first = s.cells, .packed = s.packed.empty() ? nullptr : &s.packed};
  auto run = [&](const Tensor& x) {
    RecurrentOutput out = decoder_(x, c, from);
    s.cells = out.last;
    return out.outputs;
  };
  if (bahdanau()) {
    const Tensor before = s.cells.hidden.select(0, config_.decoder_layers - 1).unsqueeze(1);
    const Look seen = look(attention_ ? before : y, s, c);
    return {y, run(concat({y, seen.context}, -1)), seen.context, seen.weights};
  }
  const Tensor after = run(feeding() ? concat({y, s.fed}, -1) : y);
  const Look seen = look(after, s, c);
  return {y, after, seen.context, seen.weights};
}

Tensor Seq2Seq::readout(const Steps& s) const {
  if (bahdanau()) return readout_(concat({s.after, s.context, s.y}, -1), Activation::tanh);
  return readout_(concat({s.context, s.after}, -1), Activation::tanh);
}

// What no step waits for is left for one product over all of them.
std::pair<Tensor, Seq2Seq::Steps> Seq2Seq::readouts(const Tensor& y, State& s, const Context& c) const {
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

Tensor Seq2Seq::output(const Tensor& o, const Steps& steps, const State& s, const Context& c) const {
  const Tensor x = dropout_(o, c.at("readout"));
  const Tensor logits = output_ ? (*output_)(x) : embedding_.as_output(x);
  if (!gate_) return logits;
  const Tensor gate = (*gate_)(concat({steps.context, steps.after, steps.y}, -1));
  return with_copies(logits, gate, steps.weights, s.ids, c);
}

Tensor Seq2Seq::logits(const Source& source, const Tensor& target_ids, const Context& context) const {
  const Encoded e = encoded(source, context);
  State s = first_state(e);
  return decoded(e, target_ids, s, context);
}

Tensor Seq2Seq::decoded(const Encoded& e, const Tensor& target_ids, State& s, const Context& context) const {
  const bool learns = context.training || e.states.needs_gradient();
  if (attention_ && config_.pointer && learns)
    s.keys = attention_->weighed_keys(e.states, e.lengths);
  else if (attention_)
    s.keys = attention_->keys(e.states, e.lengths);
  const Context c = context.at("decoder");
  const Tensor y = embedded(embedding_, readable(target_ids), c);
  require(y.size(1) > 0, "seq2seq: found targets {}, expected at least one token", target_ids.shape());
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

// Both parts are in the header. What is added for its gradient alone is taken off again from the value.
Tensor Seq2Seq::loss(const Source& source, const Tensor& target_ids, const Tensor& wanted_ids,
                     const CrossEntropyOptions& options, const Context& context) const {
  if (!context.training || (!reinforced() && config_.coverage_loss == 0))
    return Generator::loss(source, target_ids, wanted_ids, options, context);
  require(options.reduction != Reduction::none, "seq2seq: found a loss for each token, expected their sum or mean");
  const Tensor counts = counting(wanted_ids, options.ignored, embedding_.weight().dtype());
  const Encoded e = encoded(source, context);
  auto costs_of = [&](State& s, const Context& c) {
    const Tensor logits = decoded(e, target_ids, s, c);
    const Tensor each = cross_entropy(logits, wanted_ids, {options.smoothing, options.ignored, Reduction::none});
    if (config_.coverage_loss == 0) return each;
    return each + config_.coverage_loss * counts * concat(s.notes->repetitions, 1);
  };
  Notes notes, greedy_notes;
  State sampled = first_state(e);
  sampled.notes = &notes;
  const Tensor costs = costs_of(sampled, context);
  Tensor total = sum(costs);
  if (reinforced()) {
    State greedy = first_state(e);
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

std::unique_ptr<DecoderState> Seq2Seq::start(const Source& source, const Context& context) const {
  const Encoded e = encoded(source, context);
  auto s = std::make_unique<State>(first_state(e));
  if (attention_)
    s->keys = config_.coverage ? attention_->keys(e.states, e.lengths) : attention_->packed_keys(e.states, e.lengths);
  return s;
}

Tensor Seq2Seq::next(State& s, const Tensor& ids, const Context& c) const {
  const Steps step = advance(embedded(embedding_, readable(ids.unsqueeze(1)), c), s, c);
  const Tensor o = readout(step);
  if (feeding()) s.fed = o;
  const Tensor y = output(o, step, s, c).squeeze(1);
  // Weights in training would let the tape grow with every step.
  s.cells = {s.cells.hidden.detach(), s.cells.cell.detach()}, s.fed = s.fed.detach(), s.coverage = s.coverage.detach();
  return y;
}

// Token after token; a row that has no more of them keeps what it had.
Tensor Seq2Seq::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
                      const Context& context) const {
  const Context c = context.at("decoder");
  State& s = dynamic_cast<State&>(state);
  const std::vector<int64_t> last = last_tokens(ids, starts);
  const int64_t rows = s.rows();
  require(static_cast<int64_t>(last.size()) == rows, "seq2seq: found tokens for {} rows, expected {}", last.size(),
          rows);
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

extern const Family seq2seq = family_of<Seq2Seq>(
    "seq2seq", "LSTM or GRU encoder and decoder with attention (Bahdanau et al. 2014, Luong et al. 2015)",
    R"([{"embedding": 9, "encoder_width": 10, "decoder_width": 20, "attention_width": 17, "cell": "gru",
         "attention": ["additive", "dot", "general", "concat", "scaled-dot", "none"], "order": ["bahdanau", "luong"]},
        {"embedding": 9, "encoder_width": 10, "decoder_width": 20, "encoder_layers": 2, "decoder_layers": 2,
         "cell": "lstm", "attention": "general", "order": ["bahdanau", "luong"]},
        {"embedding": 9, "encoder_width": 10, "decoder_width": 20, "attention": "dot", "order": "luong",
         "input_feeding": false, "tied": true},
        {"embedding": 9, "encoder_width": 10, "decoder_width": 20, "attention": ["additive", "scaled-dot"],
         "order": ["bahdanau", "luong"], "coverage": true},
        {"embedding": 9, "encoder_width": 10, "decoder_width": 20, "attention": ["additive", "scaled-dot"],
         "order": ["bahdanau", "luong"], "selection": "hard"},
        {"embedding": 9, "encoder_width": 10, "decoder_width": 20, "attention": ["additive", "scaled-dot"],
         "order": ["bahdanau", "luong"], "pointer": true, "coverage": [false, true]},
        {"embedding": 9, "encoder_width": 10, "decoder_width": 20, "attention": "general", "order": "luong",
         "input_feeding": false, "pointer": true, "tied": true}])",
    R"({"dropout": 0.2, "learning_rate": 1e-3, "warmup": -1})");

}  // namespace fovea
