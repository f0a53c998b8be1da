// A captioner that looks at a part of the picture for each word: Show, Attend and Tell (Xu et al. 2015).
//
//   a = features of the picture's parts       s[0] = tanh(W mean(a))       c[t] = β[t] · attend(s[t−1], a)
//
//   PictureCaptioner model({.vocabulary = 30, .image_size = 64});
//   Tensor logits = model.logits({.pixels = pixels}, inputs, context);
//
// The features are those of convolutions (picture_grid.h) or of a Vision Transformer (vit_body.h); the decoder, the gate β, soft
// attention with its doubly stochastic loss, and hard attention with its gradients: recurrent_decoder.h. Without attention c[t] is
// always the mean of the features. The places of its attentions: decoder.attention, and with "vit" encoder.I.self.
#pragma once

#include "fovea/models/family.h"
#include "fovea/models/picture_grid.h"
#include "fovea/models/recurrent_decoder.h"
#include "fovea/models/vit_body.h"

namespace fovea {

class PictureCaptioner final : public Model, public PictureEncoder, public Generator {
 public:
  struct Config {
    int64_t vocabulary = 0;
    int64_t image_size = 64, num_channels = 3, patch_size = 8;
    std::string encoder = "convolutions";
    int64_t encoder_width = 128, encoder_layers = 1, encoder_kernel = 3, encoder_heads = 4;
    std::string cell = "lstm";
    int64_t embedding = 64, decoder_width = 256, decoder_layers = 1;
    std::string attention = "additive";
    int64_t attention_width = 0;
    std::string selection = "soft", hard_gradient = "reinforce";
    double entropy_bonus = 0.01;
    double doubly_stochastic = 0;
    bool context_gate = true;
    int64_t readout = 0;
    double dropout = 0;
    int64_t padding = 0, start = 1, end = 2;

    void fields(Fields& f);
    Config completed() const;  // with the sizes that 0 stands for; an Error if something does not go together
  };
  explicit PictureCaptioner(const Config&);

  Tensor encode_pictures(const Tensor& pixels, const Context&) const override;  // a
  PictureShape picture_shape() const override;
  std::string picture_attention() const override { return {}; }

  Tensor logits(const Source&, const Tensor& target_ids, const Context&) const override;
  Tensor loss(const Source&, const Tensor& target_ids, const Tensor& wanted_ids, const CrossEntropyOptions&,
              const Context&) const override;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const override;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "captioner"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }
  SpecialIds special_ids() const override { return {config_.padding, config_.start, config_.end, -1}; }
  std::string source_attention() const override { return decoder_.attends() ? "decoder.attention" : ""; }

 protected:
  void list_places(const Places& p) const override;

 private:
  RecurrentMemory memory(const Source&, const Context&) const;

  Config config_;
  std::optional<PictureGrid> grid_;
  std::optional<VitBody> vit_;
  Linear bridge_;
  std::optional<Linear> cell_bridge_;
  RecurrentDecoder decoder_;
};

}  // namespace fovea
