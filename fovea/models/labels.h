// What the labels of a text mean, and the loss and the answer that follow from it.
//
//   one       p = softmax(logits)                                            one label of all
//   several   p = sigmoid(logits)                                            each label by itself, or none
//   number    y = mean + deviation · logit                                   a value: regression
//
//   Labels labels({.names = {"bad", "good"}});   Tensor p = labels.answers(model.logits(source, {}));
#pragma once

#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// The right answers of a batch.
struct WantedLabels {
  Tensor labels = {};   // one: i64 [batch]; several: [batch, labels] of 0 and 1; number: [batch, 1]
  Tensor weights = {};  // one, several: how much each label counts, [labels]; 1 if not given
};

class Labels final {
 public:
  enum Kind { one, several, number };

  struct Config {
    std::vector<std::string> names = {};
    std::string kind = "one";
    double mean = 0, deviation = 1;  // of a number
  };
  Labels(std::string_view model, const Config&);  // `model` stands in errors

  Kind kind() const { return kind_; }
  const std::vector<std::string>& names() const { return config_.names; }
  int64_t size() const { return static_cast<int64_t>(config_.names.size()); }
  Tensor answers(const Tensor& logits) const;  // [batch, labels]: probabilities, or the number
  // Of each text, [batch]. `smoothing` is the share of a target that is spread over all labels.
  Tensor losses(const Tensor& logits, const WantedLabels&, double smoothing = 0) const;

 private:
  Config config_;
  Kind kind_;
};

}  // namespace fovea
