// Sequences of different lengths in one rectangle: what is real of it and what is padding.
//
//   Tensor ids = only_real(words, lengths, 0);         // 0 wherever something beyond a row's length stood
//   for_each_real(lengths, ids.shape(), [&](int64_t place) { … });
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

// The lengths of the rows of [batch, tokens, …]: those given (i64 [batch], checked), or all tokens.
std::vector<int64_t> row_lengths(const Tensor& lengths, const Shape& shape);

// f(place in row-major order among batch · tokens) for each token that is not padding.
template <class F>
void for_each_real(const Tensor& lengths, const Shape& shape, F&& f) {
  const std::vector<int64_t> n = row_lengths(lengths, shape);
  for (size_t row = 0; row < n.size(); ++row)
    for (int64_t t = 0; t < n[row]; ++t) f(static_cast<int64_t>(row) * shape[1] + t);
}

// The ids i64 [batch, tokens] where tokens are, `padding` beyond.
Tensor only_real(const Tensor& ids, const Tensor& lengths, int64_t padding);

// x with zeros behind an axis, up to a size.
Tensor padded(const Tensor& x, int axis, int64_t size);

// 1 / length (0 beyond it), [batch, 1, tokens]: a product with it is the mean over each row's tokens.
Tensor mean_weights(const Tensor& lengths, const Shape& shape, DType type);

}  // namespace fovea
