// How noisy the gradients g₁ … gₙ of n batches are, each a vector over all weights, without keeping them:
//
//   ḡ = Σ gᵢ / n        variance = Σ |gᵢ − ḡ|² / (n − 1)        updated batch by batch (Welford 1962), in double
//
//   GradientVariance noise(list_weights(model));
//   for (…) loss.backward(), noise.add(tokens);            // uses up the gradients
//   noise.mean(), noise.variance();
#pragma once

#include <vector>

#include "fovea/train/optimiser.h"

namespace fovea {

class GradientVariance final {
 public:
  explicit GradientVariance(std::vector<NamedWeight>);

  // The gradients that the weights have collected, divided by `divisor`, are one more; they are then cleared.
  void add(double divisor);

  double mean() const;      // |ḡ|
  double variance() const;  // NaN of less than two
  int64_t count() const { return count_; }

 private:
  std::vector<NamedWeight> weights_;
  std::vector<std::vector<double>> means_;  // of each weight
  double squares_ = 0;                      // Σ |gᵢ − ḡ|²
  int64_t count_ = 0;
};

}  // namespace fovea
