// The baseline that counts: a text is the multiset of its tokens, the labels come from logistic regression.
//
//   logits = b + Σⱼ W[token j] / √tokens                 padding counts for nothing
//
//   BagOfWords model({.vocabulary = 8000, .labels = {"bad", "good"}});   Tensor p = softmax(model.logits(source, {}));
#pragma once

#include <string>
#include <vector>

#include "fovea/models/classifier.h"

namespace fovea {

class BagOfWords final : public ClassifierModel {
 public:
  struct Config {
    int64_t vocabulary = 0;
    std::vector<std::string> labels;
    int64_t padding = 0;

    void fields(Fields& f);
  };
  explicit BagOfWords(const Config&);

  Tensor logits(const Source&, const Context&) const override;
  Tensor loss(const Source&, const Tensor& labels, const Context&) const override;
  const std::vector<std::string>& labels() const override { return config_.labels; }
  // |how far a token moves the most probable label above the mean of all|, as a share.
  Tensor token_weights(const Source&, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "bag-of-words"; }
  std::string config() const override;

 private:
  Config config_;
  Tensor words_, bias_;  // W [vocabulary, labels], b [labels], zeros at first
};

}  // namespace fovea
