// One step of an optimiser over the numbers of a weight, each read and written once; shared out over the threads. An
// element's result depends on that element alone, so it has the same bits for any number of threads.
//
//   adam({.rate = 1e-3f}, {count, gradient, weight, first, second});
//   double norm = std::sqrt(sum_of_squares(count, gradient));
#pragma once

#include <cstdint>

namespace fovea::kernels {

// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019), with t the step:
//
//   g ← scale · gradient + penalty · w
//   m ← m + (1 − β₁)(g − m),   v ← β₂ v + (1 − β₂) g²
//   w ← keep · w − rate · m / (√v · correction + ε),      rate = η / (1 − β₁ᵗ),   correction = 1 / √(1 − β₂ᵗ)
//
// AdamW: keep = 1 − η λ, penalty = 0. Adam: keep = 1, penalty = λ.
struct AdamStep {
  double beta1 = 0.9, beta2 = 0.999;  // doubles, since 1 − β₂ loses five digits in float
  float rate = 0, epsilon = 1e-8f, correction = 1;
  float keep = 1, penalty = 0, scale = 1;
};

struct AdamNumbers {
  int64_t count = 0;
  const float* gradient = nullptr;
  float *weight = nullptr, *first = nullptr, *second = nullptr;
};

void adam(const AdamStep&, const AdamNumbers&);

// Gradient descent with momentum (Polyak 1964):  g ← scale · gradient + penalty · w,   u ← μ u + g,   w ← w − rate · u
struct MomentumStep {
  float rate = 0, momentum = 0;
  float penalty = 0, scale = 1;
};

struct MomentumNumbers {
  int64_t count = 0;
  const float* gradient = nullptr;
  float *weight = nullptr, *velocity = nullptr;
};

void momentum(const MomentumStep&, const MomentumNumbers&);

// target ← target + share · (source − target)
void blend(float share, int64_t count, const float* source, float* target);

// Σ x², by pieces of a fixed size, each in float, their sums in double and in order.
double sum_of_squares(int64_t count, const float* x);

}  // namespace fovea::kernels
