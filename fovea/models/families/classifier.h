// Labels for a text: an encoder, attention pooling, a linear layer (Yang et al. 2016).
//
//   h = encoder(E[tokens])                               LSTM, GRU, both ways or forwards alone; Transformer; or none (the
//                                                        embeddings themselves)
//   p = attend(q, h, h) with a learned query q           soft, or hard: one sampled word (Xu et al. 2015)
//   logits = W p + b
//
//   PooledClassifier model({.vocabulary = 8000, .labels = {"bad", "good"}});
//   Tensor loss = model.loss(source, {labels}, context);   Tensor p = model.labels().answers(model.logits(source, {}));
//
// A hard choice j ~ w learns by REINFORCE (Williams 1992) with the loss of the most probable choice as its baseline, which is
// the self-critic of Rennie et al. 2017, and with a bonus for the entropy H of the weights. The loss's value is that of the
// choice alone; its gradient is that of
//
//   ℓ(j) + (ℓ(j) − ℓ(argmax w)) log w[j] − entropy_bonus · H(w)        the bracket taken as a constant
//
// (or straight-through, or the exact marginal of a linear loss: attention/attention.h).
// The place of the pooling's attention: "pooling" (with pooling "last" and "mean" there is none).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/models/cells.h"
#include "fovea/models/family.h"
#include "fovea/models/source_attention.h"
#include "fovea/models/transformer_layer.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/positions.h"

namespace fovea {

class PooledClassifier final : public Model, public TextLabeller {
 public:
  struct Config {
    int64_t vocabulary = 0;
    std::vector<std::string> labels;
    std::string labelling = "one";
    double mean = 0, deviation = 1;
    bool pairs = false;
    std::string encoder = "lstm";
    bool bidirectional = true;                         // lstm, gru
    int64_t embedding = 128, width = 128, layers = 1;  // width: of each direction; of a Transformer's token
    int64_t heads = 4, hidden = 512;                   // of a Transformer
    int64_t longest = 1024;
    std::string pooling = "attention";
    std::string attention = "additive";
    std::string selection = "soft";
    std::string hard_gradient = "reinforce";
    double entropy_bonus = 0.01;  // REINFORCE
    double dropout = 0.3, word_dropout = 0;
    double smoothing = 0;
    int64_t padding = 0, unknown = 3;

    void fields(Fields& f);
  };
  explicit PooledClassifier(const Config&);

  Tensor logits(const Source&, const Context&) const override;
  Tensor loss(const Source&, const WantedLabels&, const Context&) const override;
  const Labels& labels() const override { return labels_; }
  bool pairs() const override { return config_.pairs; }
  int64_t longest() const override { return config_.longest; }
  Tensor token_weights(const Source&, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "classifier"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }

 protected:
  void list_places(const Places& p) const override {
    p.at("encoder").layers(layers_);
    if (attention_)
      p.at("pooling").add({.kind = Place::Kind::pooling, .rows = "label", .columns = "source", .residual = false});
  }

 private:
  struct Encoded {
    Tensor states, lengths;  // [batch, tokens, state width], i64 [batch]
    Tensor ends;             // [last →; last ←] of recurrent states, or last → alone
  };
  struct Pooled {
    Tensor vector;           // [batch, state width]
    Tensor log_probability;  // [batch], of a hard choice in training by REINFORCE
  };

  int64_t directions() const { return config_.bidirectional ? 2 : 1; }  // of recurrent states
  int64_t state_width() const;
  Source readable(const Source&,
                  const Context&) const;  // at most the longest, padding beyond the lengths, words dropped
  Encoded encode(const Source&, const Context&) const;
  Tensor transformed(const Tensor& x, const Tensor& lengths, const Context&) const;
  Tensor queries(int64_t batch) const;  // the learned one for each text, [batch, 1, state width]
  Pooled pool(const Encoded&, const Context&) const;
  Tensor output(const Tensor& pooled, const Context&) const;
  Tensor surrogate(const Encoded&, const Tensor& losses, const Pooled&, const WantedLabels&, const Context&) const;
  Tensor losses(const Tensor& pooled, const WantedLabels&, const Context&) const;  // of each text

  Config config_;
  Labels labels_;
  Dropout dropout_;
  Embedding embedding_;
  std::optional<Cells> cells_;
  std::vector<EncoderLayer> layers_;
  std::optional<LayerNorm> norm_;
  Weight query_;  // [state width]
  std::optional<SourceAttention> attention_;
  Linear output_;
};

}  // namespace fovea
