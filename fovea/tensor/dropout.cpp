#include "fovea/tensor/dropout.h"

#include "fovea/kernels/dropout.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

void drop(const float* x, float* y, int64_t count, float p, const Random& random) {
  kernels::dropout({.count = count, .probability = p, .key = random.key()}, x, y);
}

void drop(const double* x, double* y, int64_t count, float p, const Random& random) {
  const double scale = 1 / (1 - static_cast<double>(p));
  for (int64_t i = 0; i < count; ++i) y[i] = random.uniform(static_cast<uint64_t>(i)) < p ? 0 : x[i] * scale;
}

Tensor dropped(const Tensor& x, float p, const Random& random) {
  const Tensor from = x.detach().contiguous();
  Tensor y(x.shape(), x.dtype());
  with_number("dropout", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    drop(from.data<T>(), y.data<T>(), y.elements(), p, random);
  });
  return y;
}

}  // namespace

// The gradient draws the same numbers again: nothing is kept.
Tensor dropout(const Tensor& x, float p, const Random& random) {
  require(p >= 0 && p <= 1, "dropout: found a probability of {}, expected 0 to 1", p);
  if (p == 0) return x;
  Tensor y = dropped(x, p, random);
  if (!needs_gradient(x)) return y;
  return with_gradient("dropout", y, {x}, [p, random](const Tensor& dy) { return Gradients{dropped(dy, p, random)}; });
}

}  // namespace fovea
