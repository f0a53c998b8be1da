// Normalisation over the last axis.
//
//   layer_norm: (x − mean) / √(variance + ε) · weight + bias         (Ba, Kiros and Hinton 2016)
//   rms_norm:   x / √(mean(x²) + ε) · weight                         (Zhang and Sennrich 2019)
//
// An x that nobody else holds is overwritten where it needs no gradient: layer_norm(a + b, …) takes no memory of its own.
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor layer_norm(Tensor x, const Tensor& weight, const Tensor& bias,
                  double epsilon = 1e-5);  // weight, bias: may be no tensor
Tensor rms_norm(Tensor x, const Tensor& weight, double epsilon = 1e-6);

}  // namespace fovea
