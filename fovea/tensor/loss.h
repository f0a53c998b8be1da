// Cross-entropy between logits and class indices.
//
//   Tensor loss = cross_entropy(logits, targets, {.smoothing = 0.1, .ignored = pad});   // a single number
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

enum class Reduction { mean, sum, none };  // mean: over the targets that are not ignored; 0 if there are none

struct CrossEntropyOptions {
  double smoothing = 0;    // this share of the target is spread evenly over all classes that are not −∞
  int64_t ignored = -100;  // targets of this value count for nothing
  Reduction reduction = Reduction::mean;
};

// logits [..., classes], targets i64 [...].
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& = {});

}  // namespace fovea
