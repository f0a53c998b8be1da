// Dropout of floats by counter-based random numbers.
//
//   dropout({.count = n, .probability = 0.1f, .key = random.key()}, x, y);
//
// y[i] = 0 if random.uniform(i) < probability, else x[i] / (1 − probability); the same for the gradient. A NaN that is
// dropped is gone.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct DropoutOptions {
  int64_t count = 0;
  float probability = 0;
  uint64_t key = 0;
};

void dropout(const DropoutOptions&, const float* x, float* y);  // y may be x

}  // namespace fovea::kernels
