// Matrix products over the last two axes; the axes before them are broadcast.
//
//   Tensor scores = matmul(q, k.transpose(-1, -2));    // [batch, heads, queries, width] · […, width, keys]
//   Tensor y = linear(x, weight, bias);                // x Wᵀ + b, W stored [outputs, inputs]
#pragma once

#include <vector>

#include "fovea/base/activation.h"
#include "fovea/base/precision.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor matmul(const Tensor& a, const Tensor& b);  // a vector stands for a row on the left and a column on the right

// activation(x Wᵀ + b) in one pass; `bias` may be no tensor. In bf16 both operands of the product, and of those of its gradients, are
// rounded (x only where a unit multiplies bf16, kernels/packed.h) and their sums are f32; f64 knows no other precision.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none,
              Precision precision = Precision::f32);

// Several x Wᵀ + b of one x, with the results of linear(): their gradients read x once and are added up in the products.
struct Projection {
  Tensor weight, bias;  // `bias` may be no tensor
};
std::vector<Tensor> linears(const Tensor& x, const std::vector<Projection>&, Precision precision = Precision::f32);

}  // namespace fovea
