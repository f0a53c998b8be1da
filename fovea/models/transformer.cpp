#include "fovea/models/transformer.h"

#include <cmath>

#include "fovea/attention/cache.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

using Config = Transformer::Config;

struct TransformerState final : DecoderState {
  Memory memory;
  Cache cache;
  int64_t position = 0;

  void reorder(const Tensor& batch_rows) override {
    if (memory.states) memory.states = rows(memory.states, batch_rows);
    if (memory.lengths) memory.lengths = rows(memory.lengths, batch_rows);
    cache.reorder(batch_rows);
  }
};

void check(const Config& c) {
  check_choice("transformer", "parts", c.parts, {"encoder-decoder", "encoder", "decoder"});
  check_choice("transformer", "norm", c.norm, {"post", "pre"});
  check_choice("transformer", "positions", c.positions, {"sinusoidal", "learned", "rotary"});
  require(c.vocabulary > 0 && c.source_vocabulary >= 0,
          "transformer: found a vocabulary of {} and of {} for the source, expected at least 1, and 0 or more",
          c.vocabulary, c.source_vocabulary);
  require(c.encoder_layers >= 0 && c.decoder_layers >= 0, "transformer: found {} and {} layers, expected 0 or more",
          c.encoder_layers, c.decoder_layers);
  require(!c.tied || c.source_vocabulary == 0 || c.source_vocabulary == c.vocabulary,
          "transformer: found tied embeddings for vocabularies of {} and {}, expected equal ones (or tied: false)",
          c.source_vocabulary, c.vocabulary);
  for (int64_t id : {c.padding, c.start, c.end})
    require(0 <= id && id < c.vocabulary, "transformer: found a special id {}, expected 0 to {}", id, c.vocabulary - 1);
}

TransformerLayerConfig layer_config(const Config& c) {
  return {.width = c.width,
          .heads = c.heads,
          .hidden = c.hidden,
          .norm_first = c.norm == "pre",
          .rotary = c.positions == "rotary",
          .activation = c.activation,
          .gated = c.gated,
          .dropout = c.dropout,
          .attention_dropout = c.attention_dropout,
          .hidden_dropout = c.hidden_dropout};
}

}  // namespace

void Config::fields(Fields& f) {
  f("parts", parts, "encoder-decoder, encoder (hidden states) or decoder (language model)");
  f("vocabulary", vocabulary, "size of the vocabulary");
  f("source_vocabulary", source_vocabulary, "size of the source's vocabulary; 0: the same");
  f("width", width, "width of a token");
  f("heads", heads, "attention heads");
  f("hidden", hidden, "width of the feed-forward's hidden layer");
  f("encoder_layers", encoder_layers, "layers of the encoder");
  f("decoder_layers", decoder_layers, "layers of the decoder");
  f("norm", norm, "post: normalise after each sub-layer, pre: before it");
  f("positions", positions, "sinusoidal, learned or rotary (in self-attention)");
  f("longest", longest, "the most tokens that learned positions are for");
  f("tied", tied, "whether source, target and output share one embedding");
  f("scale_embeddings", scale_embeddings, "whether embeddings are multiplied by the root of the width");
  f("activation", activation, "of the feed-forward: relu, gelu, gelu-tanh or silu");
  f("gated", gated, "whether the feed-forward is gated");
  f("dropout", dropout, "share of each sub-layer's result, and of the embeddings, that is dropped in training");
  f("attention_dropout", attention_dropout, "share of the attention weights that is dropped in training");
  f("hidden_dropout", hidden_dropout, "share of the feed-forward's hidden layer that is dropped in training");
  f("padding", padding, "id of padding");
  f("start", start, "id before the first token");
  f("end", end, "id after the last token");
}

Transformer::Transformer(const Config& c) : config_(c), dropout_(c.dropout) {
  check(c);
  embedding_.emplace(Embedding::Config{.entries = c.vocabulary, .width = c.width, .padding = c.padding});
  if (has_encoder() && has_decoder() && !c.tied) {
    source_embedding_.emplace(Embedding::Config{.entries = c.source_vocabulary > 0 ? c.source_vocabulary : c.vocabulary,
                                                .width = c.width,
                                                .padding = c.padding});
  }
  if (has_decoder() && !c.tied) output_.emplace(Linear::Config{c.width, c.vocabulary, false});
  if (c.positions == "sinusoidal") sinusoids_.emplace(SinusoidalPositions::Config{.width = c.width});
  const LearnedPositions::Config learned = {.positions = c.longest, .width = c.width};
  if (c.positions == "learned" && has_encoder()) source_positions_.emplace(learned);
  if (c.positions == "learned" && has_decoder()) positions_.emplace(learned);
  const TransformerLayerConfig layer = layer_config(c);
  const auto cross = has_encoder() ? DecoderLayer::Cross::memory : DecoderLayer::Cross::none;
  if (has_encoder())
    for (int64_t i = 0; i < c.encoder_layers; ++i) encoder_.emplace_back(layer);
  if (has_decoder())
    for (int64_t i = 0; i < c.decoder_layers; ++i) decoder_.emplace_back(layer, cross);
  if (c.norm == "pre" && has_encoder()) encoder_norm_.emplace(LayerNorm::Config{.width = c.width});
  if (c.norm == "pre" && has_decoder()) decoder_norm_.emplace(LayerNorm::Config{.width = c.width});
}

void Transformer::weights(Weights& w) {
  w("embedding", *embedding_);
  if (source_embedding_) w("source_embedding", *source_embedding_);
  if (source_positions_) w("source_positions", *source_positions_);
  if (positions_) w("positions", *positions_);
  w("encoder", encoder_);
  if (encoder_norm_) w("encoder_norm", *encoder_norm_);
  w("decoder", decoder_);
  if (decoder_norm_) w("decoder_norm", *decoder_norm_);
  if (output_) w("output", *output_);
}

std::string Transformer::config() const { return to_json(FamilyConfig<Config>{std::string(family()), config_}); }

std::string Transformer::source_attention() const {
  if (!has_encoder() || decoder_.empty()) return {};
  return fmt::format("decoder.{}.cross", decoder_.size() - 1);
}

Tensor Transformer::embedded(const Embedding& words, const std::optional<LearnedPositions>& learned, const Tensor& ids,
                             int64_t offset, const Context& c) const {
  require(ids && ids.rank() == 2 && ids.dtype() == DType::i64,
          "transformer: found ids {}, expected I64 [batch, tokens]", ids ? ids.shape().text() : "missing");
  Tensor x = words(ids);
  if (config_.scale_embeddings) x = x * std::sqrt(static_cast<double>(config_.width));
  if (sinusoids_) x = (*sinusoids_)(x, offset);
  if (learned) x = (*learned)(x, offset);
  return dropout_(x, c.at("embedding"));
}

Tensor Transformer::encode(const Source& source, const Context& context) const {
  if (!has_encoder()) throw Error(Error::unsupported, "transformer: found parts \"decoder\", expected an encoder");
  Context c = context.at("encoder");
  c.cache = nullptr;  // the encoder sees all tokens at once
  Tensor x = embedded(source_embedding(), source_positions_, source.ids, 0, c);
  for (size_t i = 0; i < encoder_.size(); ++i) x = encoder_[i](x, source.lengths, c.at(std::to_string(i)));
  return encoder_norm_ ? (*encoder_norm_)(x) : x;
}

Tensor Transformer::decode(const Tensor& ids, const Memory& memory, int64_t offset, const Context& context) const {
  if (!has_decoder()) throw Error(Error::unsupported, "transformer: found parts \"encoder\", expected a decoder");
  const Context c = context.at("decoder");
  Tensor x = embedded(*embedding_, positions_, ids, offset, c);
  for (size_t i = 0; i < decoder_.size(); ++i) x = decoder_[i](x, memory, c.at(std::to_string(i)));
  if (decoder_norm_) x = (*decoder_norm_)(x);
  return output_ ? (*output_)(x) : embedding_->as_output(x);
}

Tensor Transformer::logits(const Source& source, const Tensor& target_ids, const Context& context) const {
  Context c = context;
  c.cache = nullptr;
  require(has_encoder() || !source.ids, "transformer: found a source for parts \"decoder\", expected no tensor");
  const Memory memory = has_encoder() ? Memory{encode(source, c), source.lengths} : Memory{};
  return decode(target_ids, memory, 0, c);
}

std::unique_ptr<DecoderState> Transformer::start(const Source& source, const Context& c) const {
  auto state = std::make_unique<TransformerState>();
  if (has_encoder()) {
    state->memory = {encode(source, c), source.lengths};
  } else {
    for (int64_t length : source.lengths ? source.lengths.values<int64_t>() : std::vector<int64_t>{})
      require(length == 0, "transformer: found a source of {} tokens for parts \"decoder\", expected none", length);
  }
  return state;
}

Tensor Transformer::step(DecoderState& given, const Tensor& ids, const Context& context) const {
  auto& state = dynamic_cast<TransformerState&>(given);
  Context c = context;
  c.cache = &state.cache;
  Tensor y = decode(ids.unsqueeze(1), state.memory, state.position++, c).squeeze(1);
  state.memory.states = {};  // projected and in the cache
  return y;
}

}  // namespace fovea
