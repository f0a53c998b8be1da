// Normalisation over the last axis, with a learned scale (and shift).
//
//   LayerNorm norm({.width = 512});   Tensor y = norm(x);      // Ba, Kiros and Hinton 2016
//   RmsNorm rms({.width = 512});      Tensor z = rms(x);       // Zhang and Sennrich 2019
#pragma once

#include "fovea/nn/weights.h"
#include "fovea/tensor/norm.h"

namespace fovea {

class LayerNorm final {
 public:
  struct Config {
    int64_t width = 0;
    double epsilon = 1e-5;
    bool bias = true;
  };
  explicit LayerNorm(const Config&);

  Tensor operator()(Tensor x) const { return layer_norm(std::move(x), weight_, bias_, epsilon_); }
  void weights(Weights& w) {
    w("weight", weight_, {Init::ones});
    if (bias_) w("bias", bias_, {Init::zeros});
  }

 private:
  double epsilon_;
  Weight weight_, bias_;
};

class RmsNorm final {
 public:
  struct Config {
    int64_t width = 0;
    double epsilon = 1e-6;
    bool plus_one = false;  // the scale is 1 + weight, as Gemma has it
  };
  explicit RmsNorm(const Config&);

  Tensor operator()(Tensor x) const;
  void weights(Weights& w) { w("weight", weight_, {plus_one_ ? Init::zeros : Init::ones}); }

 private:
  double epsilon_;
  bool plus_one_;
  Weight weight_;
};

}  // namespace fovea
