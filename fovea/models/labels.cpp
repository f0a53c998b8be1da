#include "fovea/models/labels.h"

#include "fovea/models/family.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"
#include "fovea/tensor/reduce.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

Labels::Kind kind_of(std::string_view model, const std::string& name) {
  check_choice(model, "labelling", name, {"one", "several", "number"});
  return name == "one" ? Labels::one : name == "several" ? Labels::several : Labels::number;
}

}  // namespace

Labels::Labels(std::string_view model, const Config& c) : config_(c), kind_(kind_of(model, c.kind)) {
  check_labels(model, c.names, kind_ == one ? 2 : 1);
  require(kind_ != number || c.names.size() == 1, "{}: found {} names of numbers, expected one", model, c.names.size());
  require(c.deviation > 0, "{}: found a deviation of {}, expected more than 0", model, c.deviation);
}

Tensor Labels::answers(const Tensor& logits) const {
  if (kind_ == one) return softmax(logits);
  return kind_ == several ? sigmoid(logits) : logits * config_.deviation + config_.mean;
}

Tensor Labels::losses(const Tensor& logits, const WantedLabels& wanted, double smoothing) const {
  if (kind_ == one) {
    const Tensor each = cross_entropy(logits, wanted.labels, {.smoothing = smoothing, .reduction = Reduction::none});
    return wanted.weights ? each * rows(wanted.weights.to(logits.dtype()), wanted.labels) : each;
  }
  const Tensor y = wanted.labels.to(logits.dtype());
  if (kind_ == number) return sum(power(logits - (y - config_.mean) / config_.deviation, 2), {-1});
  // −y ln σ(x) − (1 − y) ln(1 − σ(x)) = max(x, 0) − x y + ln(1 + e^−|x|)
  const Tensor smooth = y * (1 - smoothing) + smoothing / 2;
  const Tensor each = relu(logits) - logits * smooth + log(exp(-abs(logits)) + 1);
  return sum(wanted.weights ? each * wanted.weights.to(logits.dtype()) : each, {-1});
}

}  // namespace fovea
