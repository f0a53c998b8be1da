#include "fovea/models/llama_layers.h"

#include <cmath>

#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

RmsNorm norm_of(const LlamaLayout& l, int64_t width) {
  return RmsNorm({.width = width, .epsilon = l.epsilon, .plus_one = l.plus_one});
}

std::vector<Linear> attention_inputs(const LlamaLayout& l) {
  const int64_t queries = l.heads * l.head_width, keys = l.key_heads * l.head_width;
  if (l.fused) return {Linear({l.width, queries + 2 * keys, l.attention_bias})};
  return {Linear({l.width, queries, l.attention_bias}), Linear({l.width, keys, l.attention_bias}),
          Linear({l.width, keys, l.attention_bias})};
}

std::vector<Linear> mlp_inputs(const LlamaLayout& l) {
  if (l.fused) return {Linear({l.width, 2 * l.hidden, l.mlp_bias})};
  return {Linear({l.width, l.hidden, l.mlp_bias}), Linear({l.width, l.hidden, l.mlp_bias})};
}

// The results of all as one list, whether one matrix or several make them.
std::vector<Tensor> results_of(const std::vector<Linear>& modules, const Tensor& x, const std::vector<int64_t>& sizes) {
  if (modules.size() == 1) return split(modules[0](x), -1, sizes);
  std::vector<WeightAndBias> all;
  for (const Linear& m : modules) all.push_back({m.weight(), m.bias()});
  return linears(x, all);
}

}  // namespace

LlamaAttention::LlamaAttention(const LlamaLayout& l, const LlamaSight& sight)
    : heads_(l.heads),
      key_heads_(l.key_heads),
      head_width_(l.head_width),
      options_{.scale = l.score_scale, .mask = {.causal = true, .window = sight.window}, .softcap = l.score_softcap},
      rotary_(sight.rotary),
      projections_(attention_inputs(l)),
      output_({l.heads * l.head_width, l.width, l.output_bias}) {
  if (!l.head_norms) return;
  query_norm_ = norm_of(l, l.head_width);
  key_norm_ = norm_of(l, l.head_width);
}

void LlamaAttention::weights(Weights& w) {
  if (projections_.size() == 1) {
    w("qkv_proj", projections_[0]);
  } else {
    w("q_proj", projections_[0]);
    w("k_proj", projections_[1]);
    w("v_proj", projections_[2]);
  }
  w("o_proj", output_);
  if (query_norm_) w("q_norm", *query_norm_), w("k_norm", *key_norm_);
}

Projected LlamaAttention::project(const Tensor& x, std::span<const int64_t> positions) const {
  const int64_t keys = key_heads_ * head_width_;
  const std::vector<Tensor> y = results_of(projections_, x, {heads_ * head_width_, keys, keys});
  auto in_heads = [&](const Tensor& t, int64_t heads) { return t.reshape({t.size(0), t.size(1), heads, head_width_}); };
  Projected p = {in_heads(y[0], heads_), in_heads(y[1], key_heads_), in_heads(y[2], key_heads_)};
  if (query_norm_) p.queries = (*query_norm_)(p.queries), p.keys = (*key_norm_)(p.keys);
  p.queries = (*rotary_)(p.queries, positions);
  p.keys = (*rotary_)(p.keys, positions);
  return p;
}

Tensor LlamaAttention::operator()(const Tensor& x, std::span<const int64_t> positions, const Context& c) const {
  AttentionOptions options = options_;
  options.output = output_.weight(), options.precision = attention_precision(output_.weight());
  const Tensor y = attend_to_self(this, project(x, positions), options, c).output;
  return output_(y.reshape({y.size(0), y.size(1), heads_ * head_width_}));
}

LlamaMlp::LlamaMlp(const LlamaLayout& l)
    : activation_(l.activation), inputs_(mlp_inputs(l)), down_({l.hidden, l.width, l.mlp_bias}) {}

void LlamaMlp::weights(Weights& w) {
  if (inputs_.size() == 1)
    w("gate_up_proj", inputs_[0]);
  else
    w("gate_proj", inputs_[0]), w("up_proj", inputs_[1]);
  w("down_proj", down_);
}

Tensor LlamaMlp::operator()(const Tensor& x) const {
  const int64_t hidden = down_.weight().size(1);
  const std::vector<Tensor> y = results_of(inputs_, x, {hidden, hidden});
  return down_(activate(activation_, y[0]) * y[1]);
}

LlamaLayer::LlamaLayer(const LlamaLayout& l, const LlamaSight& sight)
    : attention_(l, sight), mlp_(l), before_attention_(norm_of(l, l.width)), before_mlp_(norm_of(l, l.width)) {
  if (!l.norms_behind) return;
  behind_attention_ = norm_of(l, l.width);
  behind_mlp_ = norm_of(l, l.width);
}

// With norms behind, post_attention_layernorm is the one behind the attention; without, the one before the mlp.
void LlamaLayer::weights(Weights& w) {
  w("self_attn", attention_);
  w("mlp", mlp_);
  w("input_layernorm", before_attention_);
  if (!behind_attention_) return w("post_attention_layernorm", before_mlp_);
  w("post_attention_layernorm", *behind_attention_);
  w("pre_feedforward_layernorm", before_mlp_);
  w("post_feedforward_layernorm", *behind_mlp_);
}

Tensor LlamaLayer::operator()(const Tensor& x, std::span<const int64_t> positions, const Context& c) const {
  const Tensor seen = attention_(before_attention_(x), positions, c.at("self_attn"));
  const Tensor y = x + (behind_attention_ ? (*behind_attention_)(seen) : seen);
  const Tensor thought = mlp_(before_mlp_(y));
  return y + (behind_mlp_ ? (*behind_mlp_)(thought) : thought);
}

LlamaStack::LlamaStack(const LlamaLayout& l)
    : embedding_scale_(l.embedding_scale),
      logit_softcap_(l.logit_softcap),
      embedding_({.entries = l.vocabulary, .width = l.width}),
      norm_(norm_of(l, l.width)) {
  layers_.reserve(l.layers.size());
  for (const LlamaSight& sight : l.layers) layers_.emplace_back(l, sight);
  if (!l.tied) output_.emplace(Linear::Config{l.width, l.vocabulary, false});
}

void LlamaStack::weights(Weights& w) {
  w("model.embed_tokens", embedding_);
  w("model.layers", layers_);
  w("model.norm", norm_);
  if (output_) w("lm_head", *output_);
}

Tensor LlamaStack::states(const Tensor& ids, const Context& context) const {
  const std::vector<int64_t> positions = token_positions({.causal = true}, ids.size(1), context);
  const Context c = context.at("model.layers");
  Tensor x = context.entering("text", embedding_(ids));
  if (embedding_scale_ != 1) x = x * embedding_scale_;
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x, positions, c.at(std::to_string(i)));
  return norm_(x);
}

Tensor LlamaStack::logits(const Tensor& states) const {
  const Tensor y = output_ ? (*output_)(states) : embedding_.as_output(states);
  return logit_softcap_ > 0 ? logit_softcap_ * tanh(y / logit_softcap_) : y;
}

}  // namespace fovea
