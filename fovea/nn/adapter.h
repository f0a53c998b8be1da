// What is learned beside a weight that stays as it is (LoRA: Hu et al. 2022), of rank r, far smaller than the weight:
//
//   y = W x + (α / r) B A x          A [r, inputs], drawn; B [outputs, r], zeros at the beginning
//
//   weight.adapt(std::make_shared<Adapter>(Adapter{.a = …, .b = …, .scale = 2}));     // linear(x, weight) has both terms
//   merged(*weight, *weight.adapter());                                               // W + (α / r) B A, one matrix again
#pragma once

#include <optional>

#include "fovea/base/random.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct Adapter {
  Tensor a, b;
  double scale = 1;                   // α / r
  double dropout = 0;                 // share of what A reads that is dropped
  std::optional<Random> random = {};  // of a step of training; without it nothing is dropped
};

// Begins as PEFT's do: A uniform in ±1/√inputs, B zeros. An Error if the rank is not 1 to the lesser of the two sizes.
Adapter draw_adapter(const Shape& weight, int64_t rank, const Random& random);

Tensor added_by(const Adapter&, const Tensor& x);              // (α / r) B A x
Tensor merged(const Tensor& numbers, const Adapter& adapter);  // an Error if the shapes do not fit

}  // namespace fovea
