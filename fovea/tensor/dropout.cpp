#include "fovea/tensor/dropout.h"

#include <algorithm>

#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

// Four elements share a block of random words; element i is dropped if random.uniform(i) < p.
template <class T>
void drop(const T* x, T* y, int64_t count, float p, const Random& random) {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(random.key()), static_cast<uint32_t>(random.key() >> 32)};
  const T scale = T(1 / (1 - static_cast<double>(p)));
  const int64_t blocks = (count + 3) / 4;
  parallel_ranges(blocks, 2048, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const uint64_t number = static_cast<uint64_t>(block);
      const std::array<uint32_t, 4> words =
          philox({static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), 0, 0}, key);
      const int64_t most = std::min<int64_t>(4, count - block * 4);
      for (int64_t j = 0; j < most; ++j) {
        const int64_t i = block * 4 + j;
        y[i] = unit_interval(words[static_cast<size_t>(j)]) < p ? T(0) : x[i] * scale;
      }
    }
  });
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
