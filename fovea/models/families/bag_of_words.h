// The baseline that counts: a text is the multiset of its tokens, the labels come from logistic regression.
//
//   logits = b + Σⱼ W[token j] / √tokens                 padding counts for nothing
//
//   BagOfWords model({.vocabulary = 8000, .labels = {"bad", "good"}});   Tensor p = model.labels().answers(model.logits(source, {}));
#pragma once

#include <string>
#include <vector>

#include "fovea/models/family.h"

namespace fovea {

class BagOfWords final : public Model, public TextLabeller {
 public:
  struct Config {
    int64_t vocabulary = 0;
    std::vector<std::string> labels;
    std::string labelling = "one";
    double mean = 0, deviation = 1;
    bool pairs = false;
    int64_t padding = 0;

    void fields(Fields& f);
  };
  explicit BagOfWords(const Config&);

  Tensor logits(const Source&, const Context&) const override;
  Tensor loss(const Source&, const WantedLabels&, const Context&) const override;
  const Labels& labels() const override { return labels_; }
  bool pairs() const override { return config_.pairs; }
  // |how far a token moves the most probable label above the mean of all|, as a share.
  Tensor token_weights(const Source&, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "bag-of-words"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }

 private:
  Config config_;
  Labels labels_;
  Weight words_, bias_;  // W [vocabulary, labels], b [labels], zeros at first
};

}  // namespace fovea
