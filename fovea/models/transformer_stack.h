// The two stacks of the Transformer, embeddings to last norm, and the fields that every model built on them has.
//
//   EncoderStack encoder(config, 6);   Tensor memory = encoder(embedding, source, context);
//   DecoderStack decoder(config, 6, DecoderLayer::Cross::memory);   Tensor y = decoder(embedding, ids, {memory}, context);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/models/packed_source.h"
#include "fovea/models/transformer_layer.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/positions.h"

namespace fovea {

struct StackConfig {
  int64_t width = 512, heads = 8, hidden = 2048;
  std::string norm = "post";
  std::string positions = "sinusoidal";
  int64_t longest = 1024;
  bool scale_embeddings = true;
  std::string activation = "relu";
  bool gated = false;
  double dropout = 0.1, attention_dropout = 0, hidden_dropout = 0;

  void fields(Fields& f);
  void check(std::string_view model) const;
  int64_t limit() const { return positions == "learned" ? longest : 0; }  // tokens of a sequence; 0: none
};

// x = dropout(√width · E[ids] + positions)
class StackInput final {
 public:
  explicit StackInput(const StackConfig&);

  struct Words {
    const Embedding& embedding;
    std::string_view sequence;  // which of them enters (context.h)
  };
  Tensor operator()(const Words&, const Tensor& ids, std::span<const int64_t> positions, const Context&) const;
  void weights(std::string_view name, Weights& w);

 private:
  double scale_;
  Dropout dropout_;
  std::optional<SinusoidalPositions> sinusoids_;
  std::optional<LearnedPositions> learned_;
};

class EncoderStack final {
 public:
  EncoderStack(const StackConfig&, int64_t layers);

  Tensor operator()(const Embedding&, const Source&, const Context&) const;        // [batch, tokens, width]
  Tensor operator()(const Embedding&, const PackedSource&, const Context&) const;  // [1, tokens of all rows, width]
  void weights(Weights& w);
  void places(const Places& p) const { p.at("encoder").layers(layers_); }

 private:
  Tensor run(const Embedding&, const Tensor& ids, const Mask&, const Context&) const;

  StackInput input_;
  std::vector<EncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

class DecoderStack final {
 public:
  DecoderStack(const StackConfig&, int64_t layers, DecoderLayer::Cross);

  // [batch, tokens, width]; with a cache in the context the ids are those of its step.
  Tensor operator()(const Embedding&, const Tensor& ids, const Memory&, const Context&) const;
  void remember(const Tensor& memories, const Context&) const;  // in the context's cache
  void weights(Weights& w);
  void places(const Places& p) const { p.at("decoder").layers(layers_); }
  size_t layers() const { return layers_.size(); }

 private:
  StackInput input_;
  std::vector<DecoderLayer> layers_;
  std::optional<LayerNorm> norm_;
};

}  // namespace fovea
