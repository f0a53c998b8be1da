// Normalisation of rows of floats, and its gradient.
//
//   layer_norm: y = (x − mean) / √(variance + ε) · weight + bias         (Ba, Kiros and Hinton 2016)
//   rms_norm:   y = x / √(mean(x²) + ε) · weight                         (Zhang and Sennrich 2019)
//
// Rows are contiguous, one after the other, and shared out over the threads. The sums over rows (dweight, dbias) are
// made of fixed pieces, so their bits do not depend on the threads.
#pragma once

#include <cstdint>

namespace fovea::kernels {

enum class Norm { layer, rms };

struct NormOptions {
  Norm norm = Norm::layer;
  int64_t rows = 0, width = 0;
  float epsilon = 1e-5f;
};

struct NormForward {
  const float* x = nullptr;
  const float *weight = nullptr, *bias = nullptr;  // [width], or nothing
  float* y = nullptr;                              // may be x
  float *mean = nullptr, *scale = nullptr;  // [rows] for the gradient, or nothing: mean (layer norm), 1 / √(… + ε)
};
void norm(const NormOptions&, const NormForward&);

struct NormBackward {
  const float *x = nullptr, *dy = nullptr, *weight = nullptr;
  const float *mean = nullptr, *scale = nullptr;  // as norm() left them
  float* dx = nullptr;                            // each of the three may be nothing; dx may be dy
  float *dweight = nullptr, *dbias = nullptr;
};
void norm_gradient(const NormOptions&, const NormBackward&);

}  // namespace fovea::kernels
