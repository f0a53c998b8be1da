#include "fovea/models/families/classifier.h"

#include <algorithm>
#include <cmath>

#include "fovea/models/padding.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

using Config = PooledClassifier::Config;

bool recurrent_encoder(const Config& c) { return c.encoder == "lstm" || c.encoder == "gru"; }

void check_choices(const Config& c) {
  check_choice("classifier", "encoder", c.encoder, {"lstm", "gru", "transformer", "none"});
  check_choice("classifier", "pooling", c.pooling, {"attention", "last", "mean"});
  check_choice("classifier", "selection", c.selection, {"soft", "hard"});
  check_choice("classifier", "hard_gradient", c.hard_gradient, {"reinforce", "straight-through", "marginal"});
  std::vector<std::string> forms;
  for (const Form* form : catalogue<Form>()) forms.emplace_back(form->name);
  check_choice("classifier", "attention", c.attention, forms);
  require(c.pooling != "last" || recurrent_encoder(c),
          "classifier: found pooling \"last\" with encoder \"{}\", which has no last state, expected attention or mean",
          c.encoder);
  require(c.bidirectional || recurrent_encoder(c),
          "classifier: found bidirectional: false with encoder \"{}\", which has no direction, expected lstm or gru",
          c.encoder);
  require(c.selection == "soft" || c.pooling == "attention",
          "classifier: found a hard selection with pooling \"{}\", expected pooling: attention", c.pooling);
}

Config completed(Config c) {
  check_choices(c);
  check_size("classifier", "vocabulary", c.vocabulary);
  check_size("classifier", "embedding", c.embedding);
  check_size("classifier", "width", c.width);
  check_size("classifier", "layers", c.layers);
  check_layers("classifier", "layers", c.layers);
  check_size("classifier", "heads", c.heads);
  check_size("classifier", "hidden", c.hidden);
  check_size("classifier", "longest", c.longest);
  check_share("classifier", "dropout", c.dropout);
  check_share("classifier", "word_dropout", c.word_dropout);
  check_share("classifier", "smoothing", c.smoothing);
  require(c.entropy_bonus >= 0, "classifier: found an entropy_bonus of {}, expected 0 or more", c.entropy_bonus);
  for (int64_t id : {c.padding, c.unknown})
    require(0 <= id && id < c.vocabulary, "classifier: found a special id {}, expected 0 to {}", id, c.vocabulary - 1);
  if (c.encoder == "transformer") c.embedding = c.width;
  return c;
}

HardGradient hard_gradient(const Config& c) {
  if (c.hard_gradient == "marginal") return HardGradient::marginal;
  return c.hard_gradient == "reinforce" ? HardGradient::reinforce : HardGradient::straight_through;
}

// A context in which nothing is traced and everything is there at once.
Context quiet(const Context& c) {
  Context q = c;
  q.trace = nullptr, q.cache = nullptr;
  return q;
}

}  // namespace

void Config::fields(Fields& f) {
  f.from_data("vocabulary", vocabulary, "size of the vocabulary");
  f.from_data("labels", labels, "what a text can be");
  f.from_data("labelling", labelling, "one: a text has one of the labels, several: any of them, number: a value");
  f.from_data("mean", mean, "of the numbers");
  f.from_data("deviation", deviation, "of the numbers");
  f.from_data("pairs", pairs, "whether it reads two texts at a time");
  f("encoder", encoder, "lstm, gru, transformer, or none (the embeddings themselves)");
  f("bidirectional", bidirectional, "lstm, gru: read backwards too");
  f("embedding", embedding, "width of an embedded token; a transformer's is its width");
  f("width", width, "width of the state in each direction; of a transformer's token");
  f("layers", layers, "layers of the encoder");
  f("heads", heads, "attention heads of a transformer");
  f("hidden", hidden, "width of the hidden layer of a transformer's feed-forward");
  f("longest", longest, "so many tokens of a text are read, what comes after them is not");
  f("pooling", pooling, "attention: a mean by learned weights, last: the last states, mean: all tokens count the same");
  f("attention", attention, "how a token gets its weight: additive, dot, general, concat or scaled-dot");
  f("selection", selection, "soft: the mean of the tokens by their weights, hard: one of them");
  f("hard_gradient", hard_gradient, "gradient of a hard choice: reinforce, straight-through or marginal");
  f("entropy_bonus", entropy_bonus, "reinforce: how much the entropy of the weights is worth");
  f("dropout", dropout, "share of embeddings, of layers' outputs and of the pooled vector that is dropped in training");
  f("word_dropout", word_dropout, "share of the tokens that is read as unknown in training");
  f("smoothing", smoothing, "share of the target that is spread over all labels in training");
  f.from_data("padding", padding, "id of padding");
  f.from_data("unknown", unknown, "id of unknown tokens");
}

PooledClassifier::PooledClassifier(const Config& given)
    : config_(completed(given)),
      labels_("classifier", {config_.labels, config_.labelling, config_.mean, config_.deviation}),
      dropout_(config_.dropout),
      embedding_({.entries = config_.vocabulary, .width = config_.embedding, .padding = config_.padding}),
      output_({.inputs = state_width(), .outputs = labels_.size()}) {
  const Config& c = config_;
  if (recurrent_encoder(c)) {
    cells_.emplace(c.encoder, Lstm::Config{.inputs = c.embedding,
                                           .width = c.width,
                                           .layers = c.layers,
                                           .bidirectional = c.bidirectional,
                                           .dropout = c.dropout});
  } else if (c.encoder == "transformer") {
    for (int64_t i = 0; i < c.layers; ++i)
      layers_.emplace_back(TransformerLayerConfig{
          .width = c.width, .heads = c.heads, .hidden = c.hidden, .norm_first = true, .dropout = c.dropout});
    norm_.emplace(LayerNorm::Config{.width = c.width});
  }
  if (c.pooling != "attention") return;
  query_ = Weight({state_width()});
  attention_.emplace(SourceAttention::Config{.form = c.attention,
                                             .query_width = state_width(),
                                             .memory_width = state_width(),
                                             .hidden = state_width(),
                                             .selection = c.selection == "hard" ? Selection::hard : Selection::soft,
                                             .hard_gradient = hard_gradient(c)});
}

void PooledClassifier::weights(Weights& w) {
  w("embedding", embedding_);
  if (cells_) w("encoder", *cells_);
  w("encoder", layers_);
  if (norm_) w("encoder_norm", *norm_);
  if (attention_) {
    w("pooling.learned_query", query_, {Init::normal, 1 / std::sqrt(static_cast<double>(state_width()))});
    w("pooling", *attention_);
  }
  w("output", output_);
}

int64_t PooledClassifier::state_width() const {
  return recurrent_encoder(config_)         ? directions() * config_.width
         : config_.encoder == "transformer" ? config_.width
                                            : config_.embedding;
}

Source PooledClassifier::readable(const Source& source, const Context& c) const {
  require(source.ids && source.ids.rank() == 2 && source.ids.dtype() == DType::i64,
          "classifier: found ids {}, expected I64 [batch, tokens]", source.ids ? source.ids.shape().text() : "missing");
  const int64_t batch = source.ids.size(0), tokens = std::min(source.ids.size(1), config_.longest);
  std::vector<int64_t> lengths = row_lengths(source.lengths, source.ids.shape());
  for (int64_t& n : lengths) n = std::min(n, tokens);
  if (tokens == 0)
    return {full({batch, 1}, static_cast<double>(config_.padding), DType::i64), tensor({batch}, lengths)};
  Source read = {{}, tensor({batch}, lengths)};
  read.ids = only_real(source.ids.slice(1, 0, tokens), read.lengths, config_.padding);
  if (!c.training || config_.word_dropout == 0) return read;
  const Random random = c.random.fork("word dropout");
  for_each_real(read.lengths, read.ids.shape(), [&](int64_t i) {
    if (random.uniform(static_cast<uint64_t>(i)) < config_.word_dropout) read.ids.data<int64_t>()[i] = config_.unknown;
  });
  return read;
}

Tensor PooledClassifier::transformed(const Tensor& x, const Tensor& lengths, const Context& c) const {
  Tensor y = x;
  for (size_t i = 0; i < layers_.size(); ++i) y = layers_[i](y, {.key_lengths = lengths}, c.at(std::to_string(i)));
  return (*norm_)(y);
}

PooledClassifier::Encoded PooledClassifier::encode(const Source& source, const Context& context) const {
  const Context c = context.at("encoder");
  const Source read = readable(source, c);
  Tensor x = c.entering("source", embedding_(read.ids));
  if (norm_) x = SinusoidalPositions({.width = config_.width})(x * std::sqrt(static_cast<double>(config_.width)));
  x = dropout_(x, c.at("embedding"));
  if (norm_) return {transformed(x, read.lengths, c), read.lengths, {}};
  if (!cells_) return {x, read.lengths, {}};
  const RecurrentOutput states = (*cells_)(x, c, {.lengths = read.lengths});
  return {states.outputs, read.lengths, top_states(states.last.hidden, directions())};
}

Tensor PooledClassifier::queries(int64_t batch) const { return query_->expand({batch, 1, state_width()}); }

PooledClassifier::Pooled PooledClassifier::pool(const Encoded& e, const Context& c) const {
  if (config_.pooling == "last") return {e.ends, {}};
  const int64_t batch = e.states.size(0);
  if (!attention_)
    return {matmul(mean_weights(e.lengths, e.states.shape(), e.states.dtype()), e.states).squeeze(1), {}};
  const AttentionResult looked = (*attention_)(queries(batch), attention_->keys(e.states, e.lengths), c.at("pooling"));
  Pooled p = {looked.output.reshape({batch, state_width()}), {}};
  if (c.training && config_.selection == "hard" && config_.hard_gradient == "reinforce")
    p.log_probability = looked.log_probability.reshape({batch});
  return p;
}

Tensor PooledClassifier::output(const Tensor& pooled, const Context& c) const {
  return output_(dropout_(pooled, c.at("pooled")));
}

Tensor PooledClassifier::losses(const Tensor& pooled, const WantedLabels& wanted, const Context& c) const {
  return labels_.losses(output(pooled, c), wanted, c.training ? config_.smoothing : 0);
}

// What is added to the loss for its gradient; the header has the formula. The baseline goes through the same dropout.
Tensor PooledClassifier::surrogate(const Encoded& e, const Tensor& losses, const Pooled& p, const WantedLabels& wanted,
                                   const Context& c) const {
  Context greedy = quiet(c);
  greedy.training = false;
  const Tensor baseline = this->losses(pool({e.states.detach(), e.lengths, {}}, greedy).vector, wanted, quiet(c));
  const Tensor learned = sum((losses.detach() - baseline.detach()) * p.log_probability);
  if (config_.entropy_bonus == 0) return learned;
  const Tensor h = attention_->entropy(queries(e.states.size(0)), attention_->keys(e.states, e.lengths));
  return learned - config_.entropy_bonus * sum(h);
}

Tensor PooledClassifier::logits(const Source& source, const Context& context) const {
  Context c = context;
  c.cache = nullptr;
  return output(pool(encode(source, c), c).vector, c);
}

Tensor PooledClassifier::loss(const Source& source, const WantedLabels& wanted, const Context& context) const {
  Context c = context;
  c.cache = nullptr;
  const Encoded e = encode(source, c);
  const Pooled p = pool(e, c);
  const Tensor each = losses(p.vector, wanted, c);
  if (!p.log_probability) return sum(each);
  const Tensor more = surrogate(e, each, p, wanted, c);
  return sum(each) + (more - more.detach());
}

Tensor PooledClassifier::token_weights(const Source& source, const Context& context) const {
  if (!attention_) return {};
  Trace trace;
  trace.places = {"pooling"};
  Context c = quiet(context);
  c.trace = &trace, c.place = {};
  pool(encode(source, c), c);
  const int64_t batch = source.ids.size(0), tokens = source.ids.size(1);
  const Tensor w = trace["pooling"].weights.select(1, 0).select(1, 0);
  if (w.size(1) >= tokens) return w.slice(1, 0, tokens).contiguous();
  return concat({w, zeros({batch, tokens - w.size(1)}, w.dtype())}, 1);
}

extern const Family classifier = family_of<PooledClassifier>(
    "classifier", "labels for a text: LSTM, GRU or Transformer under attention pooling (Yang et al. 2016)",
    R"([{"embedding": 8, "width": 6, "heads": 2, "hidden": 9, "dropout": 0, "encoder": ["lstm", "gru", "transformer", "none"],
         "pooling": ["attention", "mean"]},
        {"embedding": 8, "width": 6, "dropout": 0, "encoder": "gru", "bidirectional": [true, false], "pooling": "last"},
        {"embedding": 8, "width": 6, "dropout": 0, "attention": ["dot", "general", "concat", "scaled-dot"]},
        {"embedding": 8, "width": 6, "dropout": 0, "selection": "hard",
         "hard_gradient": ["reinforce", "straight-through", "marginal"]}])",
    R"({"dropout": 0.5, "word_dropout": 0.1, "learning_rate": 1e-3, "weight_decay": 0.01})");

}  // namespace fovea
