// One label for a text: an encoder, attention pooling, a linear layer (Yang et al. 2016).
//
//   h = encoder(E[tokens])                               Bi-LSTM, Bi-GRU, Transformer, or none (the embeddings themselves)
//   p = attend(q, h, h) with a learned query q           soft, or hard: one sampled word (Xu et al. 2015)
//   logits = W p + b
//
//   Classifier model({.vocabulary = 8000, .labels = {"bad", "good"}});
//   Tensor loss = model.loss(source, labels, context);   Tensor p = softmax(model.logits(source, {}));
//
// The place of the pooling's attention: "pooling" (with pooling "last" and "mean" there is none).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fovea/attention/attention.h"
#include "fovea/models/decoder.h"
#include "fovea/models/transformer_layer.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/positions.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

// Whatever gives a text one of its labels.
class ClassifierModel : public Model {
 public:
  virtual Tensor logits(const Source&, const Context&) const = 0;  // [batch, labels]
  // Of i64 [batch] labels, added up over the batch; in training with everything the model learns from.
  virtual Tensor loss(const Source&, const Tensor& labels, const Context&) const = 0;
  virtual const std::vector<std::string>& labels() const = 0;
  // How much each token counted, [batch, tokens], each row's sum 1 (0 beyond a row's length); no tensor if the model does not know.
  virtual Tensor token_weights(const Source&, const Context&) const = 0;
};

class Classifier final : public ClassifierModel {
 public:
  struct Config {
    int64_t vocabulary = 0;
    std::vector<std::string> labels;
    std::string encoder = "lstm";
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
  explicit Classifier(const Config&);

  Tensor logits(const Source&, const Context&) const override;
  Tensor loss(const Source&, const Tensor& labels, const Context&) const override;
  const std::vector<std::string>& labels() const override { return config_.labels; }
  Tensor token_weights(const Source&, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "classifier"; }
  std::string config() const override;

 private:
  struct Pooled;  // the vector, and with hard attention the log-probability of the choice

  Config config_;
};

}  // namespace fovea
