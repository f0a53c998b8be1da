// y = x Wᵀ + b, with W stored [outputs, inputs] as Hugging Face stores it.
//
//   Linear project({.inputs = 512, .outputs = 64});
//   Tensor y = project(x);                             // [..., 512] → [..., 64]
#pragma once

#include "fovea/nn/weights.h"

namespace fovea {

class Linear final {
 public:
  struct Config {
    int64_t inputs = 0, outputs = 0;
    bool bias = true;
  };
  explicit Linear(const Config&);

  // The activation runs in the same pass as the product.
  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    return linear(x, weight_, bias_, activation);
  }
  void weights(Weights& w) {
    w("weight", weight_, {Init::xavier});
    if (bias_) w("bias", bias_, {Init::zeros});
  }
  const Weight& weight() const { return weight_; }
  const Weight& bias() const { return bias_; }

 private:
  Weight weight_, bias_;
};

}  // namespace fovea
