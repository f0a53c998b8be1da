// T5 (Raffel et al. 2019): an encoder and a decoder whose tokens know where they stand from what is added to the scores alone.
//
//   y = x + f(norm(x))                        norm: by the root of the mean square, without a shift; no layer has biases
//   scores = q kᵀ + B[bucket(distance)]       not scaled; one table B for all layers of a side
//
// T5 1.1 and FLAN gate the feed-forward and have an output of their own; mT5 is T5 1.1 for many languages.
#pragma once

#include <optional>
#include <vector>

#include "fovea/models/encoder_decoder.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct T5Config {
  std::string_view family;
  bool scales = true;  // what the embedding gives as the output, if it is shared

  int64_t vocab_size = 32128, d_model = 512, d_kv = 64, d_ff = 2048;
  int64_t num_layers = 6, num_decoder_layers = -1, num_heads = 8;
  int64_t relative_attention_num_buckets = 32, relative_attention_max_distance = 128;
  std::string feed_forward_proj = "relu";
  bool tie_word_embeddings = true, scale_decoder_outputs = true;
  double layer_norm_epsilon = 1e-6, dropout_rate = 0.1;
  int64_t pad_token_id = 0, eos_token_id = 1, decoder_start_token_id = 0;

  void fields(Fields& f);
  int64_t decoder_layers() const { return num_decoder_layers >= 0 ? num_decoder_layers : num_layers; }
  bool gated() const { return feed_forward_proj.starts_with("gated-"); }
  std::string activation() const;
  // The output is the embedding, times width^(−1/2); otherwise it is the file's own, or the embedding as it is.
  bool scaled_output() const { return scales && tie_word_embeddings && scale_decoder_outputs; }
};

// x + dropout(f(norm(x)))
class T5Residual final {
 public:
  explicit T5Residual(const T5Config& c)
      : layer_norm_({.width = c.d_model, .epsilon = c.layer_norm_epsilon}), dropout_(c.dropout_rate) {}

  template <class SubLayer>
  Tensor operator()(const Tensor& x, const Context& c, SubLayer&& f) const {
    return added(x, f(layer_norm_(x)), c);
  }
  void weights(Weights& w) { w("layer_norm", layer_norm_); }

 private:
  Tensor added(const Tensor& x, const Tensor& y, const Context&) const;

  RmsNorm layer_norm_;
  Dropout dropout_;
};

// A layer of the encoder, or of the decoder, which looks at a memory too.
class T5Layer final {
 public:
  T5Layer(const T5Config&, bool cross);

  Tensor operator()(const Tensor& x, const AttentionOptions& self, const Memory&, const Context&) const;
  void remember(const Tensor& memories, const Context& c) const { cross_->remember(memories, c); }
  void weights(Weights& w);
  void places(const Places& p) const {
    self_.places(p.at("self"), cross_ ? target_to_prefix : source_to_itself);
    if (cross_) cross_->places(p.at("cross"), target_to_source);
  }

 private:
  Tensor feed_forward(const Tensor& x, const Context&) const;

  MultiHeadAttention self_;
  std::optional<MultiHeadAttention> cross_;
  T5Residual self_residual_;
  std::optional<T5Residual> cross_residual_;
  Activation activation_;
  Dropout dropout_;
  std::optional<Linear> gate_;
  Linear up_, down_;
  T5Residual feed_forward_residual_;
};

class T5Stack final {
 public:
  enum class Side { encoder, decoder };
  T5Stack(const T5Config&, Side);

  Tensor operator()(const Tensor& embedded, const Mask&, const Memory&, const Context&) const;
  void remember(const Tensor& memories, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const { p.layers(block_); }

 private:
  RelativeBuckets buckets_;
  Weight relative_attention_bias_;  // [buckets, heads]
  std::vector<T5Layer> block_;
  RmsNorm final_layer_norm_;
  Dropout dropout_;
};

class T5Model : public EncoderDecoder {
 public:
  explicit T5Model(const T5Config&);

  void weights(Weights& w) final;
  std::string_view family() const final { return config_.family; }
  std::string config() const final { return family_json(family(), config_); }
  int64_t vocabulary() const final { return config_.vocab_size; }
  std::string weight_path(const std::string& stored) const final;
  void do_without(const std::string& path) final;
  SpecialIds special_ids() const final {
    return {config_.pad_token_id, config_.decoder_start_token_id, config_.eos_token_id, -1};
  }
  std::string source_attention() const final;

 protected:
  void list_places(const Places& p) const final { encoder_.places(p.at("encoder")), decoder_.places(p.at("decoder")); }
  Tensor read(const Tensor& ids, const Mask& mask, const Context& c) const final {
    return encoder_(c.entering("source", shared_(ids)), mask, {}, c);
  }
  Tensor write(const Tensor& ids, const Memory& memory, const Context& c) const final {
    return decoder_(c.entering("text", shared_(ids)), {.causal = true}, memory, c);
  }
  void remember(const Tensor& memories, const Context& c) const final { decoder_.remember(memories, c); }
  Tensor output(const Tensor& states) const final;

 private:
  T5Config config_;
  Embedding shared_;
  T5Stack encoder_, decoder_;
  std::optional<Linear> lm_head_;
};

}  // namespace fovea
