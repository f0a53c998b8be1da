// The two layers between attentions, each token on its own:
//
//   plain    y = act(x U + b) D + c                                      (Vaswani et al. 2017)
//   gated    y = (act(x G) ∘ (x U)) D                                    (Shazeer 2020; silu: SwiGLU, gelu: GEGLU)
//
//   FeedForward mlp({.width = 512, .hidden = 2048, .activation = "gelu"});
//   Tensor y = mlp(x, context);
#pragma once

#include <optional>
#include <string>

#include "fovea/nn/dropout.h"
#include "fovea/nn/linear.h"

namespace fovea {

class FeedForward final {
 public:
  struct Config {
    int64_t width = 0, hidden = 0;
    std::string activation = "relu";
    bool gated = false;
    double dropout = 0;  // of the hidden layer
    bool bias = true;
  };
  explicit FeedForward(const Config&);

  Tensor operator()(const Tensor& x, const Context& context) const;
  void weights(Weights& w) {
    if (gate_) w("gate", *gate_);
    w("up", up_);
    w("down", down_);
  }

 private:
  Activation activation_;
  Dropout dropout_;
  std::optional<Linear> gate_;
  Linear up_, down_;
};

}  // namespace fovea
