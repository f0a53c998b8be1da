// Matrix products over the last two axes; the axes before them are broadcast.
//
//   Tensor scores = matmul(q, k.transpose(-1, -2));    // [batch, heads, queries, width] · […, width, keys]
//   Tensor y = linear(x, weight, bias);                // x Wᵀ + b, W stored [outputs, inputs]
#pragma once

#include <vector>

#include "fovea/base/activation.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor matmul(const Tensor& a, const Tensor& b);  // a vector stands for a row on the left and a column on the right

// activation(x Wᵀ + b) in one pass; `bias` may be no tensor.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none);

// Several x Wᵀ + b of one x, with the results of linear(): their gradients read x once and are added up in the products.
struct Projection {
  Tensor weight, bias;  // `bias` may be no tensor
};
std::vector<Tensor> linears(const Tensor& x, const std::vector<Projection>&);

}  // namespace fovea
