#include "fovea/models/copying.h"

#include <algorithm>

#include "fovea/models/padding.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/pointer.h"

namespace fovea {

bool copies(const Generator& model) {
  const auto* copier = dynamic_cast<const Copier*>(&model);
  return copier && copier->copies();
}

void check_copying(std::string_view model, bool pointer, const CopyingIds& ids) {
  if (!pointer) return;
  require(ids.source_vocabulary == 0 || ids.source_vocabulary == ids.vocabulary,
          "{}: found a pointer between vocabularies of {} and {}, expected one that source and target share", model,
          ids.source_vocabulary, ids.vocabulary);
  require(0 <= ids.unknown && ids.unknown < ids.vocabulary,
          "{}: found a pointer and {} as the id of what is unknown, expected 0 to {}", model, ids.unknown,
          ids.vocabulary - 1);
}

Tensor readable_ids(const Tensor& ids, int64_t vocabulary, int64_t unknown) {
  if (!ids || ids.dtype() != DType::i64) return ids;
  std::vector<int64_t> known = ids.values<int64_t>();
  std::replace_if(
      known.begin(), known.end(), [=](int64_t id) { return id >= vocabulary; }, unknown);
  return tensor(ids.shape(), known);
}

Tensor ids_to_copy(const Source& source) {
  require(source.ids && source.ids.rank() == 2 && source.ids.dtype() == DType::i64,
          "source: found ids {}, expected I64 [batch, tokens]", source.ids ? source.ids.shape().text() : "missing");
  return only_real(source.ids, source.lengths, -1);
}

Tensor joined_ids(const Tensor& ids, const Tensor& behind) {
  const int64_t tokens = std::max(ids.size(1), behind.size(1));
  auto widened = [&](const Tensor& x) {
    const int64_t more = tokens - x.size(1);
    return more == 0 ? x : concat({x, full({x.size(0), more}, -1, DType::i64)}, 1);
  };
  return concat({widened(ids), widened(behind)}, 0);
}

Tensor with_copies(const Tensor& logits, const Tensor& gate, const Tensor& weights, const Tensor& ids,
                   const Context& c) {
  const Tensor y = mix_copies(logits, gate, weights, ids.slice(1, 0, weights.size(2)));
  if (!c.trace) return y;
  const std::vector<std::string>& places = c.trace->places;
  if (std::find(places.begin(), places.end(), copied_place) != places.end())
    c.trace->add(copied_place, {.weights = (sigmoid(-gate) * weights).detach().unsqueeze(1)});
  return y;
}

}  // namespace fovea
