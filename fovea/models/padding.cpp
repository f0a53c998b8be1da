#include "fovea/models/padding.h"

#include "fovea/tensor/index.h"

namespace fovea {

std::vector<int64_t> row_lengths(const Tensor& lengths, const Shape& shape) {
  const int64_t batch = shape[0], tokens = shape[1];
  if (!lengths) return std::vector<int64_t>(static_cast<size_t>(batch), tokens);
  require(lengths.dtype() == DType::i64 && lengths.shape() == Shape{batch}, "lengths: found {} {}, expected I64 [{}]",
          name(lengths.dtype()), lengths.shape(), batch);
  std::vector<int64_t> n = lengths.values<int64_t>();
  for (int64_t length : n)
    require(0 <= length && length <= tokens, "lengths: found {}, expected 0 to {}", length, tokens);
  return n;
}

Tensor only_real(const Tensor& ids, const Tensor& lengths, int64_t padding) {
  const Tensor given = ids.contiguous();
  Tensor kept = full(ids.shape(), static_cast<double>(padding), DType::i64);
  for_each_real(lengths, ids.shape(), [&](int64_t i) { kept.data<int64_t>()[i] = given.data<int64_t>()[i]; });
  return kept;
}

Tensor padded(const Tensor& x, int axis, int64_t size) {
  if (x.size(axis) == size) return x;
  Shape more = x.shape();
  more[axis] = size - x.size(axis);
  return concat({x, zeros(more, x.dtype())}, axis);
}

Tensor mean_weights(const Tensor& lengths, const Shape& shape, DType type) {
  const std::vector<int64_t> n = row_lengths(lengths, shape);
  std::vector<double> weights(static_cast<size_t>(shape[0] * shape[1]));
  for_each_real(lengths, shape, [&](int64_t i) {
    weights[static_cast<size_t>(i)] = 1 / static_cast<double>(n[static_cast<size_t>(i / shape[1])]);
  });
  return tensor({shape[0], 1, shape[1]}, weights).to(type);
}

}  // namespace fovea
