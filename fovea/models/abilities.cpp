#include "fovea/models/abilities.h"

#include <numeric>

namespace fovea {

Tensor Generator::loss(const Source& source, const Tensor& target_ids, const Tensor& wanted_ids,
                       const CrossEntropyOptions& options, const Context& c) const {
  return cross_entropy(logits(source, target_ids, c), wanted_ids, options);
}

Tensor TokenLabeller::token_loss(const Source& source, const Tensor& labels, const Context& c) const {
  return cross_entropy(token_logits(source, c), labels, {.ignored = -1, .reduction = Reduction::sum});
}

std::vector<int64_t> last_tokens(const Tensor& ids, std::span<const int64_t> starts) {
  require(
      ids && ids.rank() == 1 && ids.dtype() == DType::i64 && starts.size() > 1 && starts.front() == 0 &&
          starts.back() == ids.size(0),
      "generation: found ids {} and {} starts, expected I64 [tokens of all rows], where each row begins, and the end",
      ids ? ids.shape().text() : "missing", starts.size());
  std::vector<int64_t> last;
  for (size_t r = 0; r + 1 < starts.size(); ++r) {
    require(starts[r] < starts[r + 1], "generation: found no token for row {}, expected one or more", r);
    last.push_back(starts[r + 1] - 1);
  }
  return last;
}

Tensor Generator::step(DecoderState& state, const Tensor& ids, const Context& c) const {
  require(ids && ids.rank() == 1, "generation: found ids {}, expected [rows]", ids ? ids.shape().text() : "missing");
  std::vector<int64_t> starts(static_cast<size_t>(ids.size(0)) + 1);
  std::iota(starts.begin(), starts.end(), int64_t{0});
  return steps(state, ids, starts, c);
}

}  // namespace fovea
