// Arithmetic on rows of floats.
//
//   apply(Unary::exp, n, x, y);                             // y[i] = e^x[i]
//   combine(Binary::multiply, n, {x}, {&scale, 0}, y);      // y[i] = x[i] · scale
#pragma once

#include <cstdint>

namespace fovea::kernels {

enum class Binary { add, subtract, multiply, divide };

struct Operand {
  const float* data = nullptr;
  int64_t step = 1;  // 1, or 0 for one number that stands for all
};

enum class Unary { exp, log, sqrt };

// y[i] = f(x[i]), shared out over the threads; y may be x.
void apply(Unary, int64_t count, const float* x, float* y);

// y[i] = a[i] ∘ b[i] on the calling thread; y may be a or b.
void combine(Binary, int64_t count, const Operand& a, const Operand& b, float* y);

}  // namespace fovea::kernels
