#include "fovea/models/transformer_layer.h"

#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

MultiHeadAttention::Config attention_config(const TransformerLayerConfig& c, bool rotary) {
  return {.width = c.width, .heads = c.heads, .dropout = c.attention_dropout, .rotary = rotary};
}

FeedForward::Config feed_forward_config(const TransformerLayerConfig& c) {
  return {
      .width = c.width, .hidden = c.hidden, .activation = c.activation, .gated = c.gated, .dropout = c.hidden_dropout};
}

}  // namespace

Tensor Residual::added(const Tensor& x, const Tensor& y, const Context& c) const {
  return x + dropout_(y, c.at("residual"));
}

EncoderLayer::EncoderLayer(const TransformerLayerConfig& c)
    : self_(attention_config(c, c.rotary)),
      feed_forward_(feed_forward_config(c)),
      self_residual_(c),
      feed_forward_residual_(c) {}

Tensor EncoderLayer::operator()(const Tensor& x, const Mask& mask, const Context& c) const {
  const Context self = c.at("self"), forward = c.at("feed_forward");
  const AttentionOptions real = {.mask = mask};
  Tensor y = self_residual_(x, self, [&](const Tensor& z) { return self_(z, real, self); });
  return feed_forward_residual_(y, forward, [&](const Tensor& z) { return feed_forward_(z, forward); });
}

void EncoderLayer::weights(Weights& w) {
  w("self", self_);
  w("self_norm", self_residual_);
  w("feed_forward", feed_forward_);
  w("feed_forward_norm", feed_forward_residual_);
}

DecoderLayer::DecoderLayer(const TransformerLayerConfig& c, Cross cross)
    : self_(attention_config(c, c.rotary)),
      feed_forward_(feed_forward_config(c)),
      self_residual_(c),
      feed_forward_residual_(c) {
  if (cross == Cross::none) return;
  cross_.emplace(attention_config(c, false));
  cross_residual_.emplace(c);
}

Tensor DecoderLayer::operator()(const Tensor& x, const Memory& memory, const Context& c) const {
  const Context self = c.at("self"), cross = c.at("cross"), forward = c.at("feed_forward");
  const AttentionOptions past = {.mask = {.causal = true}}, real = {.mask = {.key_lengths = memory.lengths}};
  Tensor y = self_residual_(x, self, [&](const Tensor& z) { return self_(z, past, self); });
  if (cross_)
    y = (*cross_residual_)(y, cross, [&](const Tensor& z) { return (*cross_)(z, memory.states, real, cross); });
  return feed_forward_residual_(y, forward, [&](const Tensor& z) { return feed_forward_(z, forward); });
}

void DecoderLayer::remember(const Tensor& memories, const Context& c) const {
  if (cross_) cross_->remember(memories, c.at("cross"));
}

void DecoderLayer::weights(Weights& w) {
  w("self", self_);
  w("self_norm", self_residual_);
  if (cross_) w("cross", *cross_), w("cross_norm", *cross_residual_);
  w("feed_forward", feed_forward_);
  w("feed_forward_norm", feed_forward_residual_);
}

}  // namespace fovea
