// BART (Lewis et al. 2019) and what is built like it: the Transformer's encoder and decoder under the names of Hugging Face.
//
//   x = E[ids] (· √width) + positions   →  norm (BART, mBART)  →  layers  →  norm (mBART)
//   logits = y Eᵀ + b
//
// Marian has sinusoids for positions, and no norm of the embeddings; mBART's layers normalise before each sub-layer; Whisper's too, and
// its encoder is given what it heard instead of words.
#pragma once

#include <optional>
#include <vector>

#include "fovea/models/encoder_decoder.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct BartConfig {
  std::string_view family;
  bool sinusoids = false, embedding_norm = true, norm_first = false, two_vocabularies = false, key_bias = true;
  int64_t first_position = 2;          // rows of the table before the first token's, which no token has
  std::string_view source = "source";  // what the encoder's sequence is called

  int64_t vocab_size = 50265, decoder_vocab_size = 0;
  bool share_encoder_decoder_embeddings = true, tie_word_embeddings = true;
  int64_t d_model = 1024;
  int64_t encoder_layers = 12, encoder_attention_heads = 16, encoder_ffn_dim = 4096;
  int64_t decoder_layers = 12, decoder_attention_heads = 16, decoder_ffn_dim = 4096;
  int64_t max_position_embeddings = 1024;
  std::string activation_function = "gelu";
  bool scale_embedding = false;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  int64_t pad_token_id = 1, bos_token_id = 0, eos_token_id = 2, decoder_start_token_id = -1;

  void fields(Fields& f);
  int64_t start() const { return decoder_start_token_id >= 0 ? decoder_start_token_id : eos_token_id; }
  bool shared() const { return !two_vocabularies || share_encoder_decoder_embeddings; }
  int64_t target_vocabulary() const { return shared() || decoder_vocab_size == 0 ? vocab_size : decoder_vocab_size; }
};

// A layer of the encoder, or of the decoder, which looks at a memory too.
class BartLayer final {
 public:
  struct Config {
    const BartConfig& model;
    int64_t heads, hidden;
    bool cross;
  };
  explicit BartLayer(const Config&);

  Tensor operator()(const Tensor& x, const Mask&, const Memory&, const Context&) const;
  void remember(const Tensor& memories, const Context& c) const { encoder_attn_->remember(memories, c); }
  void weights(Weights& w);
  void places(const Places& p) const {
    const std::string source(source_);
    self_attn_.places(p.at("self"), encoder_attn_ ? target_to_prefix : Place{.rows = source, .columns = source});
    if (encoder_attn_)
      encoder_attn_->places(p.at("cross"), {.kind = Place::Kind::cross, .rows = "target", .columns = source});
  }

 private:
  std::string_view source_;
  MultiHeadAttention self_attn_;
  std::optional<MultiHeadAttention> encoder_attn_;
  Residual self_attn_layer_norm_;
  std::optional<Residual> encoder_attn_layer_norm_;
  Activation activation_;
  Dropout dropout_;
  Linear fc1_, fc2_;
  Residual final_layer_norm_;
};

// Positions, layers and norms of one side.
class BartStack final {
 public:
  enum class Side { encoder, decoder };
  BartStack(const BartConfig&, Side);

  Tensor operator()(const Embedding&, const Tensor& ids, const Mask&, const Memory&, const Context&) const;
  Tensor operator()(Tensor x, const Mask&, const Memory&, const Context&) const;  // of what is no words
  void remember(const Tensor& memories, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const { p.layers(layers_); }

 private:
  double scale_;
  int64_t first_position_;
  Dropout dropout_;
  std::optional<SinusoidalPositions> sinusoids_;
  std::optional<LearnedPositions> embed_positions_;
  std::optional<LayerNorm> layernorm_embedding_, layer_norm_;
  std::vector<BartLayer> layers_;
};

class BartModel : public EncoderDecoder {
 public:
  explicit BartModel(const BartConfig&);

  void weights(Weights& w) final;
  std::string_view family() const final { return config_.family; }
  std::string config() const final { return family_json(family(), config_); }
  int64_t vocabulary() const final { return config_.target_vocabulary(); }
  std::string weight_path(const std::string& stored) const final;
  void do_without(const std::string& path) final;
  SpecialIds special_ids() const final { return {config_.pad_token_id, config_.start(), config_.eos_token_id, -1}; }
  int64_t longest() const final { return config_.max_position_embeddings; }
  std::string source_attention() const final;

 protected:
  void list_places(const Places& p) const final { encoder_.places(p.at("encoder")), decoder_.places(p.at("decoder")); }
  Tensor read(const Tensor& ids, const Mask&, const Context&) const final;
  Tensor write(const Tensor& ids, const Memory&, const Context&) const final;
  void remember(const Tensor& memories, const Context& c) const final { decoder_.remember(memories, c); }
  Tensor output(const Tensor& states) const final;

 private:
  const Embedding& target_embedding() const { return target_embedding_ ? *target_embedding_ : embedding_; }

  BartConfig config_;
  Embedding embedding_;                        // of the source (and the target, if shared)
  std::optional<Embedding> target_embedding_;  // two vocabularies
  BartStack encoder_, decoder_;
  std::optional<Linear> lm_head_;  // if it does not share the embedding
  Weight final_logits_bias_;
};

}  // namespace fovea
