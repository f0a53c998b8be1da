#include "fovea/attention/form.h"

#include "fovea/tensor/matmul.h"

namespace fovea {

FormWeights Form::weights(const FormSizes& sizes) const {
  const FormShapes s = shapes(sizes);
  auto made = [](const Shape& shape, Weight::Use use) { return shape.rank() > 0 ? Weight(shape, use) : Weight(); };
  const Weight::Use use = s.projects && sizes.heads == 1 ? Weight::Use::product : Weight::Use::numbers;
  return {made(s.query, use), made(s.key, use), made(s.vector, Weight::Use::numbers)};
}

Tensor repeat_heads(const Tensor& x, int64_t group) {
  const Shape s = x.shape();
  if (group == 1) return x;
  return x.unsqueeze(3).expand({s[0], s[1], s[2], group, s[3]}).reshape({s[0], s[1], s[2] * group, s[3]});
}

Tensor project_heads(const Tensor& x, const Weight& weight) {
  require(
      x.rank() == 4 && weight.rank() == 3 && weight.size(2) == x.size(3) &&
          (weight.size(0) == 1 || weight.size(0) % x.size(2) == 0),
      "projection of heads: found x {} and W {}, expected [batch, tokens, heads, width] and [heads, outputs, width]",
      x.shape().text(), weight.shape().text());
  if (weight.packed()) return linear(x, weight);
  if (weight.size(0) == 1) return linear(x, weight->squeeze(0));
  const Tensor grouped = repeat_heads(x, weight.size(0) / x.size(2));
  return matmul(grouped.transpose(1, 2), weight->transpose(1, 2)).transpose(1, 2);
}

}  // namespace fovea
