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

RecurrentDecoder::Config decoder_config(const Config& c, int64_t memory_width) {
  return {.vocabulary = c.vocabulary,
          .embedding = c.embedding,
          .memory_width = memory_width,
          .cell = c.cell,
          .width = c.decoder_width,
          .layers = c.decoder_layers,
          .attention = c.attention,
          .attention_width = c.attention_width,
          .order = c.order,
          .input_feeding = c.input_feeding,
          .selection = c.selection,
          .hard_gradient = c.hard_gradient,
          .entropy_bonus = c.entropy_bonus,
          .coverage = c.coverage,
          .coverage_loss = c.coverage_loss,
          .pointer = c.pointer,
          .readout = c.readout,
          .tied = c.tied,
          .dropout = c.dropout,
          .padding = c.padding,
          .unknown = c.unknown};
}

}  // namespace

Seq2Seq::Seq2Seq(const Config& given)
    : config_(given.completed()),
      encoder_(config_.cell, encoder_config(config_)),
      bridge_({.inputs = memory_width(), .outputs = config_.decoder_layers * config_.decoder_width}),
      decoder_(decoder_config(config_, memory_width())) {
  const Config& c = config_;
  if (!c.tied) {
    source_embedding_.emplace(
        Embedding::Config{.entries = c.source_vocabulary, .width = c.embedding, .padding = c.padding});
  }
  if (c.cell == "lstm") cell_bridge_.emplace(Linear::Config{memory_width(), c.decoder_layers * c.decoder_width, true});
}

void Seq2Seq::weights(Weights& w) {
  w("embedding", decoder_.embedding());
  if (source_embedding_) w("source_embedding", *source_embedding_);
  w("encoder", encoder_);
  w("bridge", bridge_);
  if (cell_bridge_) w("cell_bridge", *cell_bridge_);
  decoder_.weights(w);
}

RecurrentMemory Seq2Seq::memory(const Source& source, const Context& context) const {
  const Context c = context.at("encoder");
  const Embedding& words = source_embedding_ ? *source_embedding_ : decoder_.embedding();
  const Tensor x = c.entering("source", decoder_.embedded(words, decoder_.readable(source.ids), c));
  const RecurrentOutput read = encoder_(x, c, {.lengths = source.lengths});
  const int64_t directions = config_.bidirectional ? 2 : 1, layers = config_.decoder_layers;
  RecurrentMemory m = {read.outputs, source.lengths, top_states(read.last.hidden, directions), {}, {}};
  if (config_.pointer) m.ids = ids_to_copy(source);
  m.first.hidden = by_layer(bridge_(m.summary, Activation::tanh), layers);
  if (cell_bridge_) m.first.cell = by_layer((*cell_bridge_)(top_states(read.last.cell, directions)), layers);
  return m;
}

Tensor Seq2Seq::encode(const Source& source, const Context& c) const { return memory(source, c).states; }

Tensor Seq2Seq::logits(const Source& source, const Tensor& target_ids, const Context& c) const {
  return decoder_.logits(memory(source, c), target_ids, c);
}

Tensor Seq2Seq::loss(const Source& source, const Tensor& target_ids, const Tensor& wanted_ids,
                     const CrossEntropyOptions& options, const Context& c) const {
  return decoder_.loss(memory(source, c), target_ids, wanted_ids, options, c);
}

std::unique_ptr<DecoderState> Seq2Seq::start(const Source& source, const Context& c) const {
  return decoder_.start(memory(source, c));
}

Tensor Seq2Seq::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts, const Context& c) const {
  return decoder_.steps(state, ids, starts, c);
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
