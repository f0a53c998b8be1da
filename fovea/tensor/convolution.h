// Convolution over the last two axes, as PyTorch's conv2d:
//
//   y[n, o, p, q] = b[o] + Σ w[o, c, i, j] · x[n, c, p · stride + i · dilation − padding, q · … ]    over c, i and j in this order
//
//   Tensor y = convolution(x, weight, bias, {.stride = {2, 2}, .padding = {1, 1}});
#pragma once

#include <array>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct ConvolutionOptions {
  std::array<int64_t, 2> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};  // rows, columns
  int64_t groups = 1;  // each group of output channels sees only its group of input channels
};

// x [batch, channels, rows, columns], weight [outputs, channels / groups, kernel rows, kernel columns], bias [outputs] or no
// tensor → [batch, outputs, rows', columns'].
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvolutionOptions& = {});

}  // namespace fovea
