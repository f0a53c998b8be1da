#include "fovea/models/packed_source.h"

#include "fovea/models/padding.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

std::vector<int64_t> real_of(const Tensor& given, const std::vector<int64_t>& lengths) {
  const Tensor ids = given.contiguous();
  std::vector<int64_t> real;
  for (size_t r = 0; r < lengths.size(); ++r) {
    const int64_t* row = ids.data<int64_t>() + static_cast<int64_t>(r) * ids.size(1);
    real.insert(real.end(), row, row + lengths[r]);
  }
  return real;
}

}  // namespace

PackedSource packed(const Source& source) {
  require(source.ids && source.ids.rank() == 2 && source.ids.dtype() == DType::i64,
          "source: found ids {}, expected I64 [batch, tokens]", source.ids ? source.ids.shape().text() : "missing");
  require(!source.types || (source.types.shape() == source.ids.shape() && source.types.dtype() == DType::i64),
          "source: found types {} of ids {}, expected as many, I64", source.types ? source.types.shape().text() : "",
          source.ids.shape());
  const std::vector<int64_t> lengths = row_lengths(source.lengths, source.ids.shape());
  std::vector<int64_t> starts = {0};
  for (int64_t length : lengths) starts.push_back(starts.back() + length);
  PackedSource p = {tensor({1, starts.back()}, real_of(source.ids, lengths)), starts};
  if (source.types) p.types = tensor({1, starts.back()}, real_of(source.types, lengths));
  return p;
}

Tensor unpacked(const Tensor& states, const PackedSource& p, int64_t tokens) {
  const int64_t all = states.size(1), width = states.size(2);
  if (all == p.rows() * tokens) return states.reshape({p.rows(), tokens, width});
  std::vector<int64_t> places;
  for (size_t r = 0; r + 1 < p.starts.size(); ++r)
    for (int64_t t = 0; t < tokens; ++t) places.push_back(p.starts[r] + t < p.starts[r + 1] ? p.starts[r] + t : all);
  const Tensor with_zeros = concat({states.squeeze(0), zeros({1, width}, states.dtype())}, 0);
  return rows(with_zeros, tensor({p.rows(), tokens}, places));
}

Tensor first_tokens(const Tensor& states, const PackedSource& p) {
  for (size_t r = 0; r + 1 < p.starts.size(); ++r)
    require(p.starts[r] < p.starts[r + 1], "source: found no token in row {}, expected at least one", r);
  return rows(states.squeeze(0), tensor({p.rows()}, std::vector<int64_t>(p.starts.begin(), p.starts.end() - 1)));
}

}  // namespace fovea
