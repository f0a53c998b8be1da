#include "fovea/train/optimiser.h"

#include <cmath>
#include <set>

#include "fovea/base/catalogue.h"
#include "fovea/kernels/optimiser.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

void check(const OptimiserConfig& c) {
  auto in = [](double value, double low, double high) { return value >= low && value <= high; };
  require(in(c.learning_rate, 0, 1e6), "--learning-rate: found {}, expected 0 to 1e6", c.learning_rate);
  require(in(c.beta1, 0, 1) && c.beta1 < 1, "--beta1: found {}, expected 0 or more and less than 1", c.beta1);
  require(in(c.beta2, 0, 1) && c.beta2 < 1, "--beta2: found {}, expected 0 or more and less than 1", c.beta2);
  require(in(c.epsilon, 0, 1e6), "--epsilon: found {}, expected 0 or more", c.epsilon);
  require(in(c.weight_decay, 0, 1e6), "--weight-decay: found {}, expected 0 or more", c.weight_decay);
  require(in(c.momentum, 0, 1) && c.momentum < 1, "--momentum: found {}, expected 0 or more and less than 1",
          c.momentum);
  require(in(c.clip, 0, 1e30), "--clip: found {}, expected 0 or more", c.clip);
}

}  // namespace

Optimiser::Optimiser(const OptimiserConfig& config, std::vector<NamedWeight> weights) : config_(config) {
  check(config);
  if (config.kind != "adamw" && config.kind != "adam" && config.kind != "sgd") {
    throw_unknown("optimiser", config.kind, {"adamw", "adam", "sgd"});
  }
  kind_ = config.kind == "adamw" ? adamw : config.kind == "adam" ? adam : sgd;
  std::set<const std::byte*> seen;
  for (NamedWeight& named : weights) {
    const Tensor& w = named.weight;
    require(w.dtype() == DType::f32 && w.is_contiguous(),
            "optimiser: weight '{}': found {} {}, expected contiguous F32", named.path, name(w.dtype()), w.shape());
    require(w.elements() == 0 || seen.insert(w.bytes()).second,
            "optimiser: weight '{}' is listed twice; a shared weight must be listed once", named.path);
    Entry entry = {named, zeros(w.shape()), kind_ == sgd ? Tensor() : zeros(w.shape()), w.rank() > 1};
    entries_.push_back(std::move(entry));
  }
}

double Optimiser::step(const Step& step) {
  require(step.divisor > 0, "optimiser: found a divisor of {}, expected more than 0", step.divisor);
  TimedWork timed(Work::Kind::update);
  std::vector<Tensor> gradients;
  double squares = 0;
  for (Entry& entry : entries_) {
    const Tensor gradient = entry.named.weight.gradient();
    gradients.push_back(gradient ? gradient.contiguous() : Tensor());
    if (gradient) squares += kernels::sum_of_squares(gradient.elements(), gradients.back().data<float>());
  }
  const double norm = std::sqrt(squares) / step.divisor;
  if (!std::isfinite(norm)) return norm;
  ++steps_;
  const double clipping = config_.clip > 0 && norm > config_.clip ? config_.clip / norm : 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (gradients[i]) update(entries_[i], gradients[i], step, clipping / step.divisor);
    entries_[i].named.weight.clear_gradient();
  }
  if (timed) timed.done({});
  return norm;
}

void Optimiser::update(Entry& e, const Tensor& gradient, const Step& step, double scale) const {
  const double rate = config_.learning_rate * step.factor, decay = e.decays ? config_.weight_decay : 0;
  const int64_t count = gradient.elements();
  float* weight = e.named.weight.data<float>();
  if (kind_ == sgd) {
    const kernels::MomentumStep s = {.rate = static_cast<float>(rate),
                                     .momentum = static_cast<float>(config_.momentum),
                                     .penalty = static_cast<float>(decay),
                                     .scale = static_cast<float>(scale)};
    return kernels::momentum(s, {count, gradient.data<float>(), weight, e.first.data<float>()});
  }
  const double t = static_cast<double>(steps_);
  const kernels::AdamStep s = {.beta1 = config_.beta1,
                               .beta2 = config_.beta2,
                               .rate = static_cast<float>(rate / (1 - std::pow(config_.beta1, t))),
                               .epsilon = static_cast<float>(config_.epsilon),
                               .correction = static_cast<float>(1 / std::sqrt(1 - std::pow(config_.beta2, t))),
                               .keep = kind_ == adamw ? static_cast<float>(1 - rate * decay) : 1.0f,
                               .penalty = kind_ == adam ? static_cast<float>(decay) : 0.0f,
                               .scale = static_cast<float>(scale)};
  kernels::adam(s, {count, gradient.data<float>(), weight, e.first.data<float>(), e.second.data<float>()});
}

NamedTensors Optimiser::state() const {
  NamedTensors state = {{"steps", tensor({1}, std::vector<int64_t>{steps_})}};
  for (const Entry& e : entries_) {
    state["first." + e.named.path] = e.first;
    if (e.second) state["second." + e.named.path] = e.second;
  }
  return state;
}

void Optimiser::restore(const NamedTensors& state) {
  Tensor steps({1}, DType::i64);
  load(steps, state, "steps");
  for (Entry& e : entries_) {
    load(e.first, state, "first." + e.named.path);
    if (e.second) load(e.second, state, "second." + e.named.path);
  }
  steps_ = static_cast<int64_t>(steps.item());
}

}  // namespace fovea
