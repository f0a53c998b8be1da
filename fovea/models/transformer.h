// The Transformer (Vaswani et al. 2017): encoder and decoder, or one of them.
//
//   Transformer model({.vocabulary = 8000, .width = 256, .heads = 4, .hidden = 1024});
//   Tensor logits = model.logits(source, inputs, context);   Tensor states = model.encode(source, context);
//
// Places of its attentions: encoder.I.self, decoder.I.self, decoder.I.cross.
#pragma once

#include <optional>
#include <vector>

#include "fovea/models/decoder.h"
#include "fovea/models/transformer_layer.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/positions.h"

namespace fovea {

class Transformer final : public Seq2SeqModel {
 public:
  struct Config {
    std::string parts = "encoder-decoder";
    int64_t vocabulary = 0, source_vocabulary = 0;
    int64_t width = 512, heads = 8, hidden = 2048;
    int64_t encoder_layers = 6, decoder_layers = 6;
    std::string norm = "post";
    std::string positions = "sinusoidal";
    int64_t longest = 1024;
    bool tied = true;
    bool scale_embeddings = true;
    std::string activation = "relu";
    bool gated = false;
    double dropout = 0.1, attention_dropout = 0, hidden_dropout = 0;
    int64_t padding = 0, start = 1, end = 2;

    void fields(Fields& f);
  };
  explicit Transformer(const Config&);

  // Hidden states of the encoder, [batch, tokens, width]; what stands beyond a row's length means nothing.
  Tensor encode(const Source&, const Context&) const;

  // With parts "decoder" there is no source: give an empty one to logits(), and lengths of 0 to start().
  Tensor logits(const Source&, const Tensor& target_ids, const Context&) const override;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const override;
  Tensor step(DecoderState&, const Tensor& ids, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "transformer"; }
  std::string config() const override;
  int64_t vocabulary() const override { return config_.vocabulary; }
  SpecialIds special_ids() const override { return {config_.padding, config_.start, config_.end, -1}; }
  std::string source_attention() const override;

 private:
  bool has_encoder() const { return config_.parts != "decoder"; }
  bool has_decoder() const { return config_.parts != "encoder"; }
  const Embedding& source_embedding() const { return source_embedding_ ? *source_embedding_ : *embedding_; }
  Tensor embedded(const Embedding&, const std::optional<LearnedPositions>&, const Tensor& ids, int64_t offset,
                  const Context&) const;
  Tensor decode(const Tensor& ids, const Memory&, int64_t offset, const Context&) const;

  Config config_;
  Dropout dropout_;
  std::optional<Embedding> embedding_, source_embedding_;  // of the target (and the source, if tied)
  std::optional<SinusoidalPositions> sinusoids_;
  std::optional<LearnedPositions> source_positions_, positions_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  std::optional<LayerNorm> encoder_norm_, decoder_norm_;
  std::optional<Linear> output_;
};

}  // namespace fovea
