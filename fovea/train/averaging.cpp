#include "fovea/train/averaging.h"

#include <algorithm>

#include "fovea/kernels/optimiser.h"

namespace fovea {

Average::Average(double decay, std::vector<NamedWeight> weights) : decay_(decay), weights_(std::move(weights)) {
  require(decay > 0 && decay < 1, "--average: found {}, expected more than 0 and less than 1", decay);
  for (const NamedWeight& named : weights_) averages_.push_back(named.weight.detach().clone());
}

void Average::update() {
  ++updates_;
  const double share = std::max(1 - decay_, 9 / (9 + static_cast<double>(updates_)));
  for (size_t i = 0; i < weights_.size(); ++i) {
    const Tensor& w = weights_[i].weight;
    kernels::blend(static_cast<float>(share), w.elements(), w.data<float>(), averages_[i].data<float>());
  }
}

void Average::swap() {
  for (size_t i = 0; i < weights_.size(); ++i) {
    Tensor& w = weights_[i].weight;
    std::swap_ranges(w.data<float>(), w.data<float>() + w.elements(), averages_[i].data<float>());
  }
}

NamedTensors Average::state() const {
  NamedTensors state = {{"updates", tensor({1}, std::vector<int64_t>{updates_})}};
  for (size_t i = 0; i < weights_.size(); ++i) state["mean." + weights_[i].path] = averages_[i];
  return state;
}

void Average::restore(const NamedTensors& state) {
  Tensor updates({1}, DType::i64);
  load(updates, state, "updates");
  for (size_t i = 0; i < weights_.size(); ++i) load(averages_[i], state, "mean." + weights_[i].path);
  updates_ = static_cast<int64_t>(updates.item());
}

}  // namespace fovea
