// One layer of the Transformer's encoder and of its decoder (Vaswani et al. 2017, figure 1).
//
//   post-norm   y = norm(x + dropout(f(x)))            (Vaswani et al. 2017)
//   pre-norm    y = x + dropout(f(norm(x)))            (Xiong et al. 2020)
//
//   EncoderLayer layer({.width = 512, .heads = 8, .hidden = 2048});   Tensor y = layer(x, {.key_lengths = n}, context);
#pragma once

#include "fovea/attention/multi_head.h"
#include "fovea/nn/feed_forward.h"
#include "fovea/nn/norm.h"

namespace fovea {

struct TransformerLayerConfig {
  int64_t width = 0, heads = 1, hidden = 0;
  bool norm_first = false;
  bool rotary = false;
  std::string activation = "relu";
  bool gated = false;
  double dropout = 0, attention_dropout = 0, hidden_dropout = 0;
};

// What a sub-layer's result passes through.
class Residual final {
 public:
  explicit Residual(const TransformerLayerConfig& c)
      : norm_first_(c.norm_first), norm_({.width = c.width}), dropout_(c.dropout) {}

  template <class SubLayer>
  Tensor operator()(const Tensor& x, const Context& context, SubLayer&& f) const {
    return norm_first_ ? added(x, f(norm_(x)), context) : norm_(added(x, f(x), context));
  }
  void weights(Weights& w) { norm_.weights(w); }

 private:
  Tensor added(const Tensor& x, const Tensor& y, const Context&) const;

  bool norm_first_;
  LayerNorm norm_;
  Dropout dropout_;
};

class EncoderLayer final {
 public:
  explicit EncoderLayer(const TransformerLayerConfig&);

  Tensor operator()(const Tensor& x, const Mask&, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const { self_.places(p.at("self"), source_to_itself); }

 private:
  MultiHeadAttention self_;
  FeedForward feed_forward_;
  Residual self_residual_, feed_forward_residual_;
};

// What the decoder attends to: the encoder's states, and how many of each row are real. Empty once a cache has them.
struct Memory {
  Tensor states = {};   // [batch, tokens, width]
  Tensor lengths = {};  // i64 [batch]; all tokens if not given
};

class DecoderLayer final {
 public:
  enum class Cross { none, memory };
  DecoderLayer(const TransformerLayerConfig&, Cross);

  Tensor operator()(const Tensor& x, const Memory&, const Context&) const;
  void remember(const Tensor& memories, const Context&) const;  // in the context's cache, packed: [1, tokens, width]
  void weights(Weights& w);
  void places(const Places& p) const {
    self_.places(p.at("self"), cross_ ? target_to_prefix : text_to_itself);
    if (cross_) cross_->places(p.at("cross"), target_to_source);
  }

 private:
  MultiHeadAttention self_;
  std::optional<MultiHeadAttention> cross_;
  FeedForward feed_forward_;
  Residual self_residual_;
  std::optional<Residual> cross_residual_;
  Residual feed_forward_residual_;
};

}  // namespace fovea
