#include "fovea/nn/convolution.h"

#include "fovea/tensor/convolution.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

void check(const char* where, const ConvolutionConfig& c) {
  require(c.inputs > 0 && c.outputs > 0 && c.kernel > 0,
          "{}: found {} inputs, {} outputs and a kernel of {}, expected at least 1 of each", where, c.inputs, c.outputs,
          c.kernel);
  require(c.groups > 0 && c.inputs % c.groups == 0 && c.outputs % c.groups == 0,
          "{}: found {} groups of {} inputs and {} outputs, expected a divisor of both", where, c.groups, c.inputs,
          c.outputs);
  require(c.stride > 0 && c.dilation > 0 && c.padding >= 0,
          "{}: found stride {}, dilation {} and padding {}, expected at least 1, 1 and 0", where, c.stride, c.dilation,
          c.padding);
}

}  // namespace

Conv1d::Conv1d(const Config& c) : config_(c) {
  check("Conv1d", c);
  weight_ = Weight({c.outputs, c.inputs / c.groups, c.kernel});
  if (c.bias) bias_ = Weight({c.outputs});
}

Tensor Conv1d::operator()(const Tensor& x) const {
  require(x.rank() == 3 && x.size(1) == config_.inputs, "Conv1d: found x {}, expected [batch, {}, length]", x.shape(),
          config_.inputs);
  const ConvolutionOptions options = {.stride = {1, config_.stride},
                                      .padding = {0, config_.padding},
                                      .dilation = {1, config_.dilation},
                                      .groups = config_.groups};
  return convolution(x.unsqueeze(2), weight_->unsqueeze(2), bias_, options).squeeze(2);
}

FrameConvolution::FrameConvolution(const Config& c) : config_(c) {
  check("FrameConvolution", {.inputs = c.inputs, .outputs = c.outputs, .kernel = c.kernel, .stride = c.stride});
  weight_ = Weight({c.outputs, c.kernel * c.inputs}, Weight::Use::product).stored_as_convolution(c.kernel);
  bias_ = Weight({c.outputs});
}

Tensor FrameConvolution::operator()(const Tensor& x, Activation activation) const {
  require(x.rank() == 2 && x.size(1) == config_.inputs, "FrameConvolution: found x {}, expected [frames, {}]",
          x.shape(), config_.inputs);
  const int64_t frames = x.size(0), before = (config_.kernel - 1) / 2;
  const int64_t results = (frames + 2 * before - config_.kernel) / config_.stride + 1;
  if (frames == 0) return Tensor({0, config_.outputs}, x.dtype());
  std::vector<int64_t> seen;  // the frames that each result sees; behind the last there is one of zeros
  for (int64_t i = 0; i < results; ++i)
    for (int64_t k = 0; k < config_.kernel; ++k) {
      const int64_t frame = i * config_.stride + k - before;
      seen.push_back(frame < 0 || frame >= frames ? frames : frame);
    }
  const Tensor with_zeros = concat({x, zeros({1, config_.inputs}, x.dtype())}, 0);
  const Tensor patches = rows(with_zeros, tensor({results, config_.kernel}, seen));
  return linear(patches.reshape({results, config_.kernel * config_.inputs}), weight_, bias_, activation);
}

Conv2d::Conv2d(const Config& c) : config_(c) {
  check("Conv2d", c);
  weight_ = Weight({c.outputs, c.inputs / c.groups, c.kernel, c.kernel});
  if (c.bias) bias_ = Weight({c.outputs});
}

Tensor Conv2d::operator()(const Tensor& x) const {
  require(x.rank() == 4 && x.size(1) == config_.inputs, "Conv2d: found x {}, expected [batch, {}, rows, columns]",
          x.shape(), config_.inputs);
  const ConvolutionOptions options = {.stride = {config_.stride, config_.stride},
                                      .padding = {config_.padding, config_.padding},
                                      .dilation = {config_.dilation, config_.dilation},
                                      .groups = config_.groups};
  return convolution(x, weight_, bias_, options);
}

}  // namespace fovea
