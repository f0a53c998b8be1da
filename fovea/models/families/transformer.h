// The Transformer (Vaswani et al. 2017): an encoder, and a decoder that looks at it.
//
//   Transformer model({.vocabulary = 8000, .stack = {.width = 256, .heads = 4, .hidden = 1024}});
//   Tensor logits = model.logits(source, inputs, context);   Tensor states = model.encode(source, context);
//
// With a pointer (pointer.h) it can also copy tokens of the source; what logits() and steps() give are then log-probabilities.
//
// Places of its attentions: encoder.I.self, decoder.I.self, decoder.I.cross, decoder.pointer.
#pragma once

#include <optional>

#include "fovea/models/copying.h"
#include "fovea/models/family.h"
#include "fovea/models/pointer.h"
#include "fovea/models/transformer_stack.h"
#include "fovea/nn/linear.h"

namespace fovea {

class Transformer final : public Model, public Encoder, public Generator, public Copier {
 public:
  struct Config {
    int64_t vocabulary = 0, source_vocabulary = 0;
    int64_t encoder_layers = 6, decoder_layers = 6;
    bool tied = true;
    bool pointer = false;
    StackConfig stack = {};
    int64_t padding = 0, start = 1, end = 2, unknown = 3;

    void fields(Fields& f);
  };
  explicit Transformer(const Config&);

  Tensor encode(const Source&, const Context&) const override;
  Tensor logits(const Source&, const Tensor& target_ids, const Context&) const override;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const override;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "transformer"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }
  SpecialIds special_ids() const override { return {config_.padding, config_.start, config_.end, -1}; }
  int64_t longest() const override { return config_.stack.limit(); }
  std::string source_attention() const override;
  bool copies() const override { return pointer_.has_value(); }

 protected:
  void list_places(const Places& p) const override {
    encoder_.places(p), decoder_.places(p);
    if (pointer_)
      p.at("decoder").at("pointer").add({.kind = Place::Kind::pointer, .rows = "target", .columns = "source"});
  }

 private:
  struct State;

  const Embedding& source_embedding() const { return source_embedding_ ? *source_embedding_ : embedding_; }
  Tensor output(const Tensor& y) const;
  Tensor readable(const Tensor& ids) const;
  Source readable(const Source&) const;

  Config config_;
  Embedding embedding_;  // of the target (and the source, if tied)
  std::optional<Embedding> source_embedding_;
  EncoderStack encoder_;
  DecoderStack decoder_;
  std::optional<Linear> output_;
  std::optional<Pointer> pointer_;
};

}  // namespace fovea
