#include "fovea/models/bart_model.h"

#include <cmath>

#include "fovea/nn/activation.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

BartConfig checked(const BartConfig& c) {
  for (const auto& [field, size] : {std::pair<const char*, int64_t>{"vocab_size", c.vocab_size},
                                    {"decoder_vocab_size", c.target_vocabulary()},
                                    {"d_model", c.d_model},
                                    {"encoder_attention_heads", c.encoder_attention_heads},
                                    {"decoder_attention_heads", c.decoder_attention_heads},
                                    {"encoder_ffn_dim", c.encoder_ffn_dim},
                                    {"decoder_ffn_dim", c.decoder_ffn_dim},
                                    {"max_position_embeddings", c.max_position_embeddings}})
    check_size(c.family, field, size);
  check_layers(c.family, "encoder_layers", c.encoder_layers);
  check_layers(c.family, "decoder_layers", c.decoder_layers);
  for (const auto& [field, id] : {std::pair<const char*, int64_t>{"pad_token_id", c.pad_token_id},
                                  {"eos_token_id", c.eos_token_id},
                                  {"decoder_start_token_id", c.start()}})
    check_id(c.family, field, id, std::min(c.vocab_size, c.target_vocabulary()));
  return c;
}

MultiHeadAttention::Config attention_config(const BartLayer::Config& c) {
  return {.width = c.model.d_model,
          .heads = c.heads,
          .key_bias = c.model.key_bias,
          .dropout = c.model.attention_dropout,
          .names = {"q_proj", "k_proj", "v_proj", "out_proj"}};
}

TransformerLayerConfig residual_config(const BartConfig& c) {
  return {.width = c.d_model, .norm_first = c.norm_first, .dropout = c.dropout};
}

}  // namespace

void BartConfig::fields(Fields& f) {
  f.from_data("vocab_size", vocab_size, "size of the vocabulary");
  if (two_vocabularies) {
    f("decoder_vocab_size", decoder_vocab_size, "size of the target's vocabulary; 0: the same");
    f("share_encoder_decoder_embeddings", share_encoder_decoder_embeddings, "whether source and target share theirs");
  }
  f("tie_word_embeddings", tie_word_embeddings, "whether the output shares the embedding");
  f("d_model", d_model, "width of a token");
  f("encoder_layers", encoder_layers, "layers of the encoder");
  f("encoder_attention_heads", encoder_attention_heads, "attention heads of the encoder");
  f("encoder_ffn_dim", encoder_ffn_dim, "width of the feed-forward's hidden layer in the encoder");
  f("decoder_layers", decoder_layers, "layers of the decoder");
  f("decoder_attention_heads", decoder_attention_heads, "attention heads of the decoder");
  f("decoder_ffn_dim", decoder_ffn_dim, "width of the feed-forward's hidden layer in the decoder");
  f("max_position_embeddings", max_position_embeddings, "the most tokens");
  f("activation_function", activation_function, "of the feed-forward");
  f("scale_embedding", scale_embedding, "whether embeddings are multiplied by the root of the width");
  f("dropout", dropout, "share of each sub-layer's result, and of the embeddings, that is dropped in training");
  f("attention_dropout", attention_dropout, "share of the attention weights that is dropped in training");
  f("activation_dropout", activation_dropout, "share of the feed-forward's hidden layer that is dropped in training");
  f.from_data("pad_token_id", pad_token_id, "id of padding");
  f.from_data("bos_token_id", bos_token_id, "id before the first token of a text");
  f.from_data("eos_token_id", eos_token_id, "id after the last token");
  f.from_data("decoder_start_token_id", decoder_start_token_id, "id before the first token that is written; −1: eos");
  f.passed_over({"_num_labels", "add_bias_logits", "add_final_layer_norm", "architectures", "classif_dropout",
                 "classifier_dropout", "decoder_layerdrop", "encoder_layerdrop", "extra_pos_embeddings",
                 "force_bos_token_to_be_generated", "id2label", "init_std", "normalize_before", "normalize_embedding",
                 "num_hidden_layers", "save_step", "static_position_embeddings"});
  pass_over_foreign(f);
  pass_over_generation(f);
}

BartLayer::BartLayer(const Config& c)
    : source_(c.model.source),
      self_attn_(attention_config(c)),
      self_attn_layer_norm_(residual_config(c.model)),
      activation_(activation_named(c.model.activation_function)),
      dropout_(c.model.activation_dropout),
      fc1_({.inputs = c.model.d_model, .outputs = c.hidden}),
      fc2_({.inputs = c.hidden, .outputs = c.model.d_model}),
      final_layer_norm_(residual_config(c.model)) {
  if (!c.cross) return;
  encoder_attn_.emplace(attention_config(c));
  encoder_attn_layer_norm_.emplace(residual_config(c.model));
}

Tensor BartLayer::operator()(const Tensor& x, const Mask& mask, const Memory& memory, const Context& c) const {
  const Context self = c.at("self"), cross = c.at("cross"), forward = c.at("feed_forward");
  Tensor y = self_attn_layer_norm_(x, self, [&](const Tensor& z) { return self_attn_(z, {.mask = mask}, self); });
  if (encoder_attn_) {
    y = (*encoder_attn_layer_norm_)(y, cross, [&](const Tensor& z) {
      return (*encoder_attn_)(z, memory.states, {.mask = {.key_lengths = memory.lengths}}, cross);
    });
  }
  return final_layer_norm_(y, forward, [&](const Tensor& z) { return fc2_(dropout_(fc1_(z, activation_), forward)); });
}

void BartLayer::weights(Weights& w) {
  w("self_attn", self_attn_);
  w("self_attn_layer_norm", self_attn_layer_norm_);
  if (encoder_attn_) w("encoder_attn", *encoder_attn_), w("encoder_attn_layer_norm", *encoder_attn_layer_norm_);
  w("fc1", fc1_);
  w("fc2", fc2_);
  w("final_layer_norm", final_layer_norm_);
}

BartStack::BartStack(const BartConfig& c, Side side)
    : scale_(c.scale_embedding ? std::sqrt(static_cast<double>(c.d_model)) : 1),
      first_position_(c.first_position),
      dropout_(c.dropout) {
  if (c.sinusoids) {
    sinusoids_.emplace(SinusoidalPositions::Config{.width = c.d_model, .halves = true});
  } else {
    embed_positions_.emplace(
        LearnedPositions::Config{.positions = c.max_position_embeddings + c.first_position, .width = c.d_model});
  }
  if (c.embedding_norm) layernorm_embedding_.emplace(LayerNorm::Config{.width = c.d_model});
  if (c.norm_first) layer_norm_.emplace(LayerNorm::Config{.width = c.d_model});
  const bool decoder = side == Side::decoder;
  const BartLayer::Config layer = {c, decoder ? c.decoder_attention_heads : c.encoder_attention_heads,
                                   decoder ? c.decoder_ffn_dim : c.encoder_ffn_dim, decoder};
  for (int64_t i = 0; i < (decoder ? c.decoder_layers : c.encoder_layers); ++i) layers_.emplace_back(layer);
}

Tensor BartStack::operator()(const Embedding& words, const Tensor& ids, const Mask& mask, const Memory& memory,
                             const Context& c) const {
  const Tensor x = c.entering(mask.causal ? "text" : "source", words(ids));
  return (*this)(scale_ == 1 ? x : x * scale_, mask, memory, c);
}

Tensor BartStack::operator()(Tensor x, const Mask& mask, const Memory& memory, const Context& c) const {
  std::vector<int64_t> positions = token_positions(mask, x.size(-2), c);
  if (sinusoids_) x = (*sinusoids_)(x, positions);
  if (embed_positions_) {
    for (int64_t& position : positions) position += first_position_;
    x = (*embed_positions_)(x, positions);
  }
  if (layernorm_embedding_) x = (*layernorm_embedding_)(x);
  x = dropout_(x, c.at("embedding"));
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x, mask, memory, c.at(std::to_string(i)));
  return layer_norm_ ? (*layer_norm_)(x) : x;
}

void BartStack::remember(const Tensor& memories, const Context& c) const {
  for (const BartLayer& layer : layers_) layer.remember(memories, c);
}

void BartStack::weights(Weights& w) {
  if (embed_positions_) w("embed_positions", *embed_positions_);
  if (layernorm_embedding_) w("layernorm_embedding", *layernorm_embedding_);
  w("layers", layers_);
  if (layer_norm_) w("layer_norm", *layer_norm_);
}

BartModel::BartModel(const BartConfig& c)
    : config_(checked(c)),
      embedding_({.entries = c.vocab_size, .width = c.d_model, .padding = c.pad_token_id}),
      encoder_(c, BartStack::Side::encoder),
      decoder_(c, BartStack::Side::decoder),
      final_logits_bias_({1, c.target_vocabulary()}) {
  if (!c.shared())
    target_embedding_.emplace(
        Embedding::Config{.entries = c.target_vocabulary(), .width = c.d_model, .padding = c.pad_token_id});
  if (!c.tie_word_embeddings) lm_head_.emplace(Linear::Config{c.d_model, c.target_vocabulary(), false});
}

void BartModel::weights(Weights& w) {
  w(target_embedding_ ? "model.encoder.embed_tokens" : "model.shared", embedding_);
  if (target_embedding_) w("model.decoder.embed_tokens", *target_embedding_);
  w("model.encoder", encoder_);
  w("model.decoder", decoder_);
  if (lm_head_) w("lm_head", *lm_head_);
  if (final_logits_bias_) w("final_logits_bias", final_logits_bias_, {Init::zeros});
}

std::string BartModel::weight_path(const std::string& stored) const {
  const bool of_the_body =
      stored.starts_with("encoder.") || stored.starts_with("decoder.") || stored == "shared.weight";
  const std::string name = of_the_body ? "model." + stored : stored;
  if (name.ends_with("coder.version") || (config_.sinusoids && name.ends_with("coder.embed_positions.weight")))
    return "";
  const bool copy = name.ends_with("coder.embed_tokens.weight");
  if (name == "lm_head.weight" && !lm_head_)
    return config_.shared() ? "model.shared.weight" : "model.decoder.embed_tokens.weight";
  return copy && config_.shared() ? "model.shared.weight" : name;
}

void BartModel::do_without(const std::string& path) {
  if (path == "final_logits_bias") final_logits_bias_ = {};
  if (path == "lm_head.weight") lm_head_.reset(), config_.tie_word_embeddings = true;
}

std::string BartModel::source_attention() const {
  return config_.decoder_layers == 0 ? "" : fmt::format("decoder.{}.cross", config_.decoder_layers - 1);
}

Tensor BartModel::read(const Tensor& ids, const Mask& mask, const Context& c) const {
  return encoder_(embedding_, ids, mask, {}, c);
}

Tensor BartModel::write(const Tensor& ids, const Memory& memory, const Context& c) const {
  return decoder_(target_embedding(), ids, {.causal = true}, memory, c);
}

Tensor BartModel::output(const Tensor& y) const {
  const Weight bias = final_logits_bias_ ? Weight(final_logits_bias_->reshape({vocabulary()})) : Weight();
  return linear(y, lm_head_ ? lm_head_->weight() : target_embedding().weight(), bias);
}

}  // namespace fovea
