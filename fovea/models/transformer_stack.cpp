#include "fovea/models/transformer_stack.h"

#include <cmath>

#include "fovea/models/family.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

TransformerLayerConfig layer_config(const StackConfig& c) {
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

std::optional<LayerNorm> last_norm(const StackConfig& c) {
  if (c.norm != "pre") return std::nullopt;
  return LayerNorm({.width = c.width});
}

}  // namespace

void StackConfig::fields(Fields& f) {
  f("width", width, "width of a token");
  f("heads", heads, "attention heads");
  f("hidden", hidden, "width of the feed-forward's hidden layer");
  f("norm", norm, "post: normalise after each sub-layer, pre: before it");
  f("positions", positions, "sinusoidal, learned or rotary (in self-attention)");
  f("longest", longest, "the most tokens that learned positions are for");
  f("scale_embeddings", scale_embeddings, "whether embeddings are multiplied by the root of the width");
  f("activation", activation, "of the feed-forward: relu, gelu, gelu-tanh or silu");
  f("gated", gated, "whether the feed-forward is gated");
  f("dropout", dropout, "share of each sub-layer's result, and of the embeddings, that is dropped in training");
  f("attention_dropout", attention_dropout, "share of the attention weights that is dropped in training");
  f("hidden_dropout", hidden_dropout, "share of the feed-forward's hidden layer that is dropped in training");
}

void StackConfig::check(std::string_view model) const {
  check_choice(model, "norm", norm, {"post", "pre"});
  check_choice(model, "positions", positions, {"sinusoidal", "learned", "rotary"});
  check_size(model, "width", width);
  check_size(model, "heads", heads);
  check_size(model, "hidden", hidden);
  check_size(model, "longest", longest);
}

StackInput::StackInput(const StackConfig& c)
    : scale_(c.scale_embeddings ? std::sqrt(static_cast<double>(c.width)) : 1), dropout_(c.dropout) {
  if (c.positions == "sinusoidal") sinusoids_.emplace(SinusoidalPositions::Config{.width = c.width});
  if (c.positions == "learned") learned_.emplace(LearnedPositions::Config{.positions = c.longest, .width = c.width});
}

Tensor StackInput::operator()(const Words& words, const Tensor& ids, std::span<const int64_t> positions,
                              const Context& c) const {
  require(ids && ids.rank() == 2 && ids.dtype() == DType::i64,
          "transformer: found ids {}, expected I64 [batch, tokens]", ids ? ids.shape().text() : "missing");
  Tensor x = c.entering(words.sequence, words.embedding(ids));
  if (scale_ != 1) x = x * scale_;
  if (sinusoids_) x = (*sinusoids_)(x, positions);
  if (learned_) x = (*learned_)(x, positions);
  return dropout_(x, c.at("embedding"));
}

void StackInput::weights(std::string_view name, Weights& w) {
  if (learned_) w(name, *learned_);
}

EncoderStack::EncoderStack(const StackConfig& c, int64_t layers) : input_(c), norm_(last_norm(c)) {
  check_layers("transformer", "encoder_layers", layers);
  for (int64_t i = 0; i < layers; ++i) layers_.emplace_back(layer_config(c));
}

Tensor EncoderStack::run(const Embedding& words, const Tensor& ids, const Mask& mask, const Context& context) const {
  Context c = context.at("encoder");
  c.cache = nullptr;  // all tokens are there at once
  Tensor x = input_({words, "source"}, ids, positions_of(mask, ids.size(-1)), c);
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x, mask, c.at(std::to_string(i)));
  return norm_ ? (*norm_)(x) : x;
}

Tensor EncoderStack::operator()(const Embedding& words, const Source& source, const Context& c) const {
  return run(words, source.ids, {.key_lengths = source.lengths}, c);
}

Tensor EncoderStack::operator()(const Embedding& words, const PackedSource& source, const Context& c) const {
  return run(words, source.ids, source.mask(), c);
}

void EncoderStack::weights(Weights& w) {
  input_.weights("source_positions", w);
  w("encoder", layers_);
  if (norm_) w("encoder_norm", *norm_);
}

DecoderStack::DecoderStack(const StackConfig& c, int64_t layers, DecoderLayer::Cross cross)
    : input_(c), norm_(last_norm(c)) {
  check_layers("transformer", "decoder_layers", layers);
  for (int64_t i = 0; i < layers; ++i) layers_.emplace_back(layer_config(c), cross);
}

Tensor DecoderStack::operator()(const Embedding& words, const Tensor& ids, const Memory& memory,
                                const Context& context) const {
  const Context c = context.at("decoder");
  Tensor x = input_({words, "text"}, ids, token_positions({}, ids.size(-1), c), c);
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x, memory, c.at(std::to_string(i)));
  return norm_ ? (*norm_)(x) : x;
}

void DecoderStack::remember(const Tensor& memories, const Context& context) const {
  const Context c = context.at("decoder");
  for (size_t i = 0; i < layers_.size(); ++i) layers_[i].remember(memories, c.at(std::to_string(i)));
}

void DecoderStack::weights(Weights& w) {
  input_.weights("positions", w);
  w("decoder", layers_);
  if (norm_) w("decoder_norm", *norm_);
}

}  // namespace fovea
