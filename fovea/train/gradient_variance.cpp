#include "fovea/train/gradient_variance.h"

#include <cmath>
#include <limits>

namespace fovea {

GradientVariance::GradientVariance(std::vector<NamedWeight> weights) : weights_(std::move(weights)) {
  for (const NamedWeight& named : weights_) means_.emplace_back(static_cast<size_t>(named.weight.elements()), 0.0);
}

// A weight that a batch does not reach has a gradient of zeros there, which counts like any other.
void GradientVariance::add(double divisor) {
  require(divisor > 0, "gradient variance: found a divisor of {}, expected more than 0", divisor);
  ++count_;
  const double share = 1 / static_cast<double>(count_);
  for (size_t k = 0; k < weights_.size(); ++k) {
    const Tensor given = weights_[k].weight.gradient();
    const Tensor gradient = given ? given.contiguous() : Tensor();
    const float* g = gradient ? gradient.data<float>() : nullptr;
    double squares = 0;
    for (size_t i = 0; i < means_[k].size(); ++i) {
      const double value = g ? static_cast<double>(g[i]) / divisor : 0, before = value - means_[k][i];
      means_[k][i] += before * share;
      squares += before * (value - means_[k][i]);
    }
    squares_ += squares;
    weights_[k].weight.clear_gradient();
  }
}

double GradientVariance::mean() const {
  double squares = 0;
  for (const std::vector<double>& mean : means_) {
    for (double value : mean) squares += value * value;
  }
  return std::sqrt(squares);
}

double GradientVariance::variance() const {
  if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
  return squares_ / static_cast<double>(count_ - 1);
}

}  // namespace fovea
