#include "fovea/models/abilities.h"

#include <numeric>

namespace fovea {

Tensor Generator::loss(const Source& source, const Tensor& target_ids, const Tensor& wanted_ids,
                       const CrossEntropyOptions& options, const Context& c) const {
  return cross_entropy(logits(source, target_ids, c), wanted_ids, options);
}

Tensor Generator::step(DecoderState& state, const Tensor& ids, const Context& c) const {
  require(ids && ids.rank() == 1, "generation: found ids {}, expected [rows]", ids ? ids.shape().text() : "missing");
  std::vector<int64_t> starts(static_cast<size_t>(ids.size(0)) + 1);
  std::iota(starts.begin(), starts.end(), int64_t{0});
  return steps(state, ids, starts, c);
}

}  // namespace fovea
