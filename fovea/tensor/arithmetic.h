// Element by element, with broadcasting: axes of size 1 repeat, as in NumPy.
//
//   Tensor y = (x - mean) / sqrt(variance + 1e-5);
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor operator+(const Tensor& x, double c);
Tensor operator-(const Tensor& x, double c);
Tensor operator*(const Tensor& x, double c);
Tensor operator/(const Tensor& x, double c);
Tensor operator+(double c, const Tensor& x);
Tensor operator-(double c, const Tensor& x);
Tensor operator*(double c, const Tensor& x);
Tensor operator/(double c, const Tensor& x);

Tensor maximum(const Tensor& a, const Tensor& b);  // where they are equal, the gradient goes half to each
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor power(const Tensor& x, double exponent);
Tensor clamp(const Tensor& x, double low, double high);

// condition is i8, nonzero chooses a. A NaN on the side that is not chosen does not leak, forward or backward.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

// sum += x, in place and without a gradient.
void add_into(Tensor& sum, const Tensor& x);

}  // namespace fovea
