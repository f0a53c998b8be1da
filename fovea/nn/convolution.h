// Convolutions over one axis (text, audio) and two (images), with PyTorch's layouts and weights.
//
//   Conv1d conv({.inputs = 80, .outputs = 512, .kernel = 3, .stride = 2, .padding = 1});
//   Tensor y = conv(x);                                // [batch, 80, length] → [batch, 512, length / 2]
#pragma once

#include "fovea/nn/weights.h"

namespace fovea {

// One number for both axes of a Conv2d, whose kernel is square.
struct ConvolutionConfig {
  int64_t inputs = 0, outputs = 0, kernel = 1;
  int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
  bool bias = true;
};

// [batch, inputs, length] → [batch, outputs, length']; weight [outputs, inputs / groups, kernel].
class Conv1d final {
 public:
  using Config = ConvolutionConfig;
  explicit Conv1d(const Config&);

  Tensor operator()(const Tensor& x) const;
  void weights(Weights& w) {
    w("weight", weight_, {Init::kaiming});
    if (bias_) w("bias", bias_, {Init::zeros});
  }

 private:
  Config config_;
  Weight weight_, bias_;
};

// A Conv1d, with the same weights, over frames that lie one after another: [frames, inputs] → [frames', outputs], as a product that may be
// packed. Zeros are added at both ends, (kernel − 1) / 2 of them.
class FrameConvolution final {
 public:
  struct Config {
    int64_t inputs = 0, outputs = 0, kernel = 3, stride = 1;
  };
  explicit FrameConvolution(const Config&);

  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const;
  void weights(Weights& w) {
    w("weight", weight_, {Init::xavier});
    w("bias", bias_, {Init::zeros});
  }

 private:
  Config config_;
  Weight weight_, bias_;
};

// [batch, inputs, rows, columns] → [batch, outputs, rows', columns']; weight [outputs, inputs / groups, kernel, kernel].
class Conv2d final {
 public:
  using Config = ConvolutionConfig;
  explicit Conv2d(const Config&);

  Tensor operator()(const Tensor& x) const;
  void weights(Weights& w) {
    w("weight", weight_, {Init::kaiming});
    if (bias_) w("bias", bias_, {Init::zeros});
  }

 private:
  Config config_;
  Weight weight_, bias_;
};

}  // namespace fovea
