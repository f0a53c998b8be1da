// Softmax over rows of floats, its logarithm, and their gradients.
//
//   softmax({.rows = 512, .width = 2048}, x, y);              // y = e^(x − max) / Σ e^(x − max)
//
// A row of nothing but −∞ gives zeros (−∞ as logarithms); a NaN makes its row NaN. Rows are contiguous, one after the
// other, and shared out over the threads; y may be x, dx may be dy.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct SoftmaxShape {
  int64_t rows = 0, width = 0;
};

void softmax(const SoftmaxShape&, const float* x, float* y);
void log_softmax(const SoftmaxShape&, const float* x, float* y);
void log_sum_exp(const SoftmaxShape&, const float* x, float* sums);  // sums [rows]

// dx = y (dy − Σ dy y)
void softmax_gradient(const SoftmaxShape&, const float* y, const float* dy, float* dx);
// dx = dy − e^y Σ dy, with y = log_softmax(x)
void log_softmax_gradient(const SoftmaxShape&, const float* y, const float* dy, float* dx);

// The gradient of cross-entropy:  dx = scale[row] (e^(x − sums[row]) − spread), with sums as log_sum_exp gave them.
void softmax_difference(const SoftmaxShape&, const float* x, const float* sums, const float* scale, float spread,
                        float* dx);

}  // namespace fovea::kernels
