// Optimisers: AdamW and Adam (Loshchilov and Hutter 2019; Kingma and Ba 2015) and gradient descent with momentum, each one
// fused pass over a weight (kernels/optimiser.h). Weights of one axis, biases and norms, do not decay.
//
//   Optimiser optimiser({.kind = "adamw", .learning_rate = 1e-3}, list_weights(model));
//   loss.backward();
//   double norm = optimiser.step({.factor = 0.5, .divisor = tokens});      // uses up the gradients
#pragma once

#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/nn/weights.h"

namespace fovea {

struct OptimiserConfig {
  std::string kind = "adamw";
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0.01;
  double momentum = 0.9;
  double clip = 1;

  void fields(Fields& f) {
    f("optimiser", kind, "adamw, adam or sgd");
    f("learning_rate", learning_rate, "size of a step, before the schedule's factor");
    f("beta1", beta1, "adam: how long the mean of the gradients remembers");
    f("beta2", beta2, "adam: how long the mean of their squares remembers");
    f("epsilon", epsilon, "adam: what is added to the root of that mean");
    f("weight_decay", weight_decay, "how strongly weights are pulled to 0; biases and norms are not");
    f("momentum", momentum, "sgd: how long past gradients go on acting");
    f("clip", clip, "longest gradient, as the norm over all weights; 0: any");
  }
};

struct NamedWeight {
  std::string path;
  Tensor weight;  // a handle on the module's own numbers
};

// Every weight of a module; each is made to collect a gradient if it does not yet.
template <Module M>
std::vector<NamedWeight> list_weights(M& module) {
  std::vector<NamedWeight> list;
  for_each_tensor(module, [&](const std::string& path, Tensor& weight, const Init&) {
    if (!weight.needs_gradient()) weight.require_gradient();
    list.push_back({path, weight});
  });
  return list;
}

class Optimiser final {
 public:
  // An Error for values that make no sense, and for weights that are not contiguous f32 or are listed twice.
  Optimiser(const OptimiserConfig&, std::vector<NamedWeight>);

  struct Step {
    double factor = 1;   // of the learning rate
    double divisor = 1;  // of the gradients, e.g. the number of tokens whose losses were added up
  };
  // One step with the gradients that the weights have collected, which are then cleared; a weight without one stays as it
  // is. Returns the norm of the divided gradients before clipping, a sum in the order of the list. If it is not finite,
  // nothing is changed.
  double step(const Step&);

  int64_t steps() const { return steps_; }

  // What the next step depends on besides the weights and the configuration.
  NamedTensors state() const;
  void restore(const NamedTensors&);

 private:
  enum Kind { adamw, adam, sgd };
  struct Entry {
    NamedWeight named;
    Tensor first, second;  // Adam's moments; for sgd the first is the velocity
    bool decays;
  };
  void update(Entry&, const Tensor& gradient, const Step&, double scale) const;

  OptimiserConfig config_;
  Kind kind_;
  std::vector<Entry> entries_;
  int64_t steps_ = 0;
};

}  // namespace fovea
