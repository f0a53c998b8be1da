#include "fovea/nn/feed_forward.h"

#include "fovea/nn/activation.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {

FeedForward::FeedForward(const Config& c)
    : activation_(activation_named(c.activation)),
      dropout_(c.dropout),
      up_({.inputs = c.width, .outputs = c.hidden, .bias = c.bias}),
      down_({.inputs = c.hidden, .outputs = c.width, .bias = c.bias}) {
  if (c.gated) gate_.emplace(Linear::Config{.inputs = c.width, .outputs = c.hidden, .bias = c.bias});
}

Tensor FeedForward::operator()(const Tensor& x, const Context& context) const {
  Tensor hidden = gate_ ? (*gate_)(x, activation_) * up_(x) : up_(x, activation_);
  return down_(dropout_(hidden, context));
}

}  // namespace fovea
