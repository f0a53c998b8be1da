#include "fovea/models/abilities.h"

namespace fovea {

Tensor Generator::loss(const Source& source, const Tensor& target_ids, const Tensor& wanted_ids,
                       const CrossEntropyOptions& options, const Context& c) const {
  return cross_entropy(logits(source, target_ids, c), wanted_ids, options);
}

}  // namespace fovea
