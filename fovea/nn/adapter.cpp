#include "fovea/nn/adapter.h"

#include <algorithm>
#include <cmath>

#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/dropout.h"
#include "fovea/tensor/matmul.h"

namespace fovea {

Adapter draw_adapter(const Shape& weight, int64_t rank, const Random& random) {
  const int64_t outputs = weight[0], inputs = weight[1], most = std::min(outputs, inputs);
  require(1 <= rank && rank <= most, "adapter: found rank {} for a weight {}, expected 1 to {}", rank, weight, most);
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return {.a = uniform({rank, inputs}, random, -bound, bound), .b = zeros({outputs, rank})};
}

Tensor added_by(const Adapter& adapter, const Tensor& x) {
  const bool drops = adapter.dropout > 0 && adapter.random;
  const Tensor read = drops ? dropout(x, static_cast<float>(adapter.dropout), *adapter.random) : x;
  return linear(linear(read, adapter.a), adapter.b) * adapter.scale;
}

Tensor merged(const Tensor& numbers, const Adapter& adapter) {
  const Tensor &a = adapter.a, &b = adapter.b;
  if (numbers.rank() != 2 || a.rank() != 2 || b.rank() != 2 || a.size(1) != numbers.size(1) ||
      b.size(0) != numbers.size(0) || a.size(0) != b.size(1))
    throw Error(Error::corrupt, "found an adapter of A {} and B {}, expected [rank, {}] and [{}, rank]", a.shape(),
                b.shape(), numbers.size(-1), numbers.size(0));
  return numbers + matmul(b, a) * adapter.scale;
}

}  // namespace fovea
