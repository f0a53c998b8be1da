#include "fovea/models/t5_model.h"

#include <cmath>

#include "fovea/nn/activation.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

T5Config checked(const T5Config& c) {
  for (const auto& [field, size] : {std::pair<const char*, int64_t>{"vocab_size", c.vocab_size},
                                    {"d_model", c.d_model},
                                    {"d_kv", c.d_kv},
                                    {"d_ff", c.d_ff},
                                    {"num_heads", c.num_heads},
                                    {"relative_attention_num_buckets", c.relative_attention_num_buckets},
                                    {"relative_attention_max_distance", c.relative_attention_max_distance}})
    check_size(c.family, field, size);
  check_layers(c.family, "num_layers", c.num_layers);
  check_layers(c.family, "num_decoder_layers", c.decoder_layers());
  for (const auto& [field, id] : {std::pair<const char*, int64_t>{"pad_token_id", c.pad_token_id},
                                  {"eos_token_id", c.eos_token_id},
                                  {"decoder_start_token_id", c.decoder_start_token_id}})
    check_id(c.family, field, id, c.vocab_size);
  return c;
}

MultiHeadAttention::Config attention_config(const T5Config& c) {
  return {.width = c.d_model,
          .heads = c.num_heads,
          .head_width = c.d_kv,
          .bias = false,
          .dropout = c.dropout_rate,
          .names = {"q", "k", "v", "o"}};
}

}  // namespace

void T5Config::fields(Fields& f) {
  f.from_data("vocab_size", vocab_size, "size of the vocabulary");
  f("d_model", d_model, "width of a token");
  f("d_kv", d_kv, "width of a head");
  f("d_ff", d_ff, "width of the feed-forward's hidden layer");
  f("num_layers", num_layers, "layers of the encoder");
  f("num_decoder_layers", num_decoder_layers, "layers of the decoder; −1: as many");
  f("num_heads", num_heads, "attention heads");
  f("relative_attention_num_buckets", relative_attention_num_buckets, "groups of distances with a score of their own");
  f("relative_attention_max_distance", relative_attention_max_distance, "from which distance on all are one group");
  f("feed_forward_proj", feed_forward_proj, "activation of the feed-forward: relu, gated-gelu …");
  f("tie_word_embeddings", tie_word_embeddings, "whether the output shares the embedding");
  if (scales) f("scale_decoder_outputs", scale_decoder_outputs, "whether what is shared is scaled");
  f("layer_norm_epsilon", layer_norm_epsilon, "added to a token's mean square");
  f("dropout_rate", dropout_rate, "share that is dropped in training");
  f.from_data("pad_token_id", pad_token_id, "id of padding");
  f.from_data("eos_token_id", eos_token_id, "id after the last token");
  f.from_data("decoder_start_token_id", decoder_start_token_id, "id before the first token that is written");
  f.passed_over({"architectures", "bos_token_id", "classifier_dropout", "dense_act_fn", "id2label", "is_gated_act",
                 "n_positions"});
  pass_over_foreign(f);
  pass_over_generation(f);
}

std::string T5Config::activation() const {
  if (!gated()) return feed_forward_proj;
  const std::string name = feed_forward_proj.substr(std::string_view("gated-").size());
  return name == "gelu" ? "gelu_new" : name;
}

Tensor T5Residual::added(const Tensor& x, const Tensor& y, const Context& c) const {
  return x + dropout_(y, c.at("residual"));
}

T5Layer::T5Layer(const T5Config& c, bool cross)
    : self_(attention_config(c)),
      self_residual_(c),
      activation_(activation_named(c.activation())),
      dropout_(c.dropout_rate),
      up_({.inputs = c.d_model, .outputs = c.d_ff, .bias = false}),
      down_({.inputs = c.d_ff, .outputs = c.d_model, .bias = false}),
      feed_forward_residual_(c) {
  if (c.gated()) gate_.emplace(Linear::Config{.inputs = c.d_model, .outputs = c.d_ff, .bias = false});
  if (cross) cross_.emplace(attention_config(c)), cross_residual_.emplace(c);
}

Tensor T5Layer::operator()(const Tensor& x, const AttentionOptions& options, const Memory& memory,
                           const Context& c) const {
  const Context self = c.at("self"), cross = c.at("cross"), forward = c.at("feed_forward");
  Tensor y = self_residual_(x, self, [&](const Tensor& z) { return self_(z, options, self); });
  if (cross_) {
    y = (*cross_residual_)(y, cross, [&](const Tensor& z) {
      return (*cross_)(z, memory.states, {.scale = 1, .mask = {.key_lengths = memory.lengths}}, cross);
    });
  }
  return feed_forward_residual_(y, forward, [&](const Tensor& z) { return feed_forward(z, forward); });
}

Tensor T5Layer::feed_forward(const Tensor& x, const Context& c) const {
  const Tensor hidden = gate_ ? (*gate_)(x, activation_) * up_(x) : up_(x, activation_);
  return down_(dropout_(hidden, c));
}

void T5Layer::weights(Weights& w) {
  w("layer.0.SelfAttention", self_);
  w("layer.0", self_residual_);
  if (cross_) w("layer.1.EncDecAttention", *cross_), w("layer.1", *cross_residual_);
  const std::string forward = cross_ ? "layer.2" : "layer.1", dense = forward + ".DenseReluDense.";
  if (gate_) w(dense + "wi_0", *gate_);
  w(dense + (gate_ ? "wi_1" : "wi"), up_);
  w(dense + "wo", down_);
  w(forward, feed_forward_residual_);
}

T5Stack::T5Stack(const T5Config& c, Side side)
    : buckets_{.bidirectional = side == Side::encoder, .farthest = c.relative_attention_max_distance},
      relative_attention_bias_({c.relative_attention_num_buckets, c.num_heads}),
      final_layer_norm_({.width = c.d_model, .epsilon = c.layer_norm_epsilon}),
      dropout_(c.dropout_rate) {
  const bool decoder = side == Side::decoder;
  for (int64_t i = 0; i < (decoder ? c.decoder_layers() : c.num_layers); ++i) block_.emplace_back(c, decoder);
}

Tensor T5Stack::operator()(const Tensor& embedded, const Mask& mask, const Memory& memory, const Context& c) const {
  AttentionOptions options = {.scale = 1, .mask = mask, .bias = {.buckets = buckets_}};
  if (!block_.empty()) options.bias.table = relative_attention_bias_;
  Tensor x = dropout_(embedded, c.at("embedding"));
  for (size_t i = 0; i < block_.size(); ++i) x = block_[i](x, options, memory, c.at(std::to_string(i)));
  return dropout_(final_layer_norm_(x), c.at("last"));
}

void T5Stack::remember(const Tensor& memories, const Context& c) const {
  for (const T5Layer& layer : block_) layer.remember(memories, c);
}

void T5Stack::weights(Weights& w) {
  w("block", block_);
  if (!block_.empty())
    w("block.0.layer.0.SelfAttention.relative_attention_bias.weight", relative_attention_bias_, {Init::normal, 0.5});
  w("final_layer_norm", final_layer_norm_);
}

T5Model::T5Model(const T5Config& c)
    : config_(checked(c)),
      shared_({.entries = c.vocab_size, .width = c.d_model}),
      encoder_(c, T5Stack::Side::encoder),
      decoder_(c, T5Stack::Side::decoder) {
  if (!c.scaled_output()) lm_head_.emplace(Linear::Config{c.d_model, c.vocab_size, false});
}

void T5Model::weights(Weights& w) {
  w("shared", shared_);
  w("encoder", encoder_);
  w("decoder", decoder_);
  if (lm_head_) w("lm_head", *lm_head_);
}

std::string T5Model::weight_path(const std::string& stored) const {
  if (stored == "lm_head.weight" && !lm_head_) return "shared.weight";
  if (stored == "encoder.embed_tokens.weight" || stored == "decoder.embed_tokens.weight") return "shared.weight";
  return stored.ends_with("EncDecAttention.relative_attention_bias.weight") ? "" : stored;
}

void T5Model::do_without(const std::string& path) {
  if (path != "lm_head.weight") return;
  lm_head_.reset();
  config_.tie_word_embeddings = true, config_.scale_decoder_outputs = false;
}

std::string T5Model::source_attention() const {
  const int64_t layers = config_.decoder_layers();
  return layers == 0 ? "" : fmt::format("decoder.{}.cross", layers - 1);
}

Tensor T5Model::output(const Tensor& y) const {
  if (lm_head_) return (*lm_head_)(y);
  return shared_.as_output(config_.scaled_output() ? y * (1 / std::sqrt(static_cast<double>(config_.d_model))) : y);
}

}  // namespace fovea
