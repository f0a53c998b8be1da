// The average of the weights over the steps of a training is often a better model than the last ones (Polyak and Juditsky
// 1992):  a ← a + max(1 − decay, 9 / (9 + t)) · (w − a)  after step t, so that early weights are soon forgotten.
//
//   Average average(0.999, list_weights(model));
//   average.update();                                  // after each step
//   { const Averaged inside(&average);  validate(model);  save(model); }     // the averaged weights stand in the model
#pragma once

#include <vector>

#include "fovea/train/optimiser.h"

namespace fovea {

class Average final {
 public:
  Average(double decay, std::vector<NamedWeight>);

  void update();
  void swap();  // exchanges the numbers of the weights and of their averages

  NamedTensors state() const;
  void restore(const NamedTensors&);

 private:
  double decay_;
  std::vector<NamedWeight> weights_;
  std::vector<Tensor> averages_;
  int64_t updates_ = 0;
};

// The averages stand in the model as long as this does; without an average nothing happens.
class Averaged final {
 public:
  explicit Averaged(Average* average) : average_(average) {
    if (average_) average_->swap();
  }
  ~Averaged() {
    if (average_) average_->swap();
  }
  Averaged(const Averaged&) = delete;
  Averaged& operator=(const Averaged&) = delete;

 private:
  Average* average_;
};

}  // namespace fovea
