// A recurrent encoder and a recurrent decoder that looks back at the encoder's states h through attention.
//
//   h[j] = [h→[j]; h←[j]],   s[0] = tanh(W [last h→; last h←])
//
//   Seq2Seq model({.vocabulary = 8000, .attention = "additive"});
//   Tensor logits = model.logits(source, inputs, context);
//
// The decoder's equations, and what its loss adds: recurrent_decoder.h. Without attention c[t] is [last h→; last h←]. The place of its
// attention: decoder.attention.
#pragma once

#include <optional>

#include "fovea/models/family.h"
#include "fovea/models/recurrent_decoder.h"

namespace fovea {

class Seq2Seq final : public Model, public Encoder, public Generator, public Copier {
 public:
  struct Config {
    int64_t vocabulary = 0, source_vocabulary = 0;
    std::string cell = "lstm";
    int64_t embedding = 256;
    int64_t encoder_width = 256, encoder_layers = 1;
    bool bidirectional = true;
    int64_t decoder_width = 512, decoder_layers = 1;
    std::string attention = "additive";
    int64_t attention_width = 0;
    std::string order = "bahdanau";
    bool input_feeding = true;
    std::string selection = "soft";
    std::string hard_gradient = "straight-through";
    double entropy_bonus = 0.01;  // REINFORCE
    bool coverage = false;
    double coverage_loss = 0;
    bool pointer = false;
    int64_t readout = 0;
    bool tied = false;
    double dropout = 0;
    int64_t padding = 0, start = 1, end = 2, unknown = 3;

    void fields(Fields& f);
    Config completed() const;  // with the sizes that 0 stands for; an Error if something does not go together
  };
  explicit Seq2Seq(const Config&);

  Tensor encode(const Source&, const Context&) const override;  // h
  Tensor logits(const Source&, const Tensor& target_ids, const Context&) const override;
  Tensor loss(const Source&, const Tensor& target_ids, const Tensor& wanted_ids, const CrossEntropyOptions&,
              const Context&) const override;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const override;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "seq2seq"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }
  SpecialIds special_ids() const override { return {config_.padding, config_.start, config_.end, -1}; }
  std::string source_attention() const override { return decoder_.attends() ? "decoder.attention" : ""; }
  bool copies() const override { return config_.pointer; }

 protected:
  void list_places(const Places& p) const override {
    Place place = target_to_source;
    place.residual = false;
    if (decoder_.attends()) p.at("decoder").at("attention").add(place);
  }

 private:
  int64_t memory_width() const { return (config_.bidirectional ? 2 : 1) * config_.encoder_width; }
  RecurrentMemory memory(const Source&, const Context&) const;

  Config config_;
  std::optional<Embedding> source_embedding_;
  Cells encoder_;
  Linear bridge_;
  std::optional<Linear> cell_bridge_;
  RecurrentDecoder decoder_;
};

}  // namespace fovea
