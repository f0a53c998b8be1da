#include "fovea/models/causal.h"

#include <algorithm>

#include "fovea/models/cache_state.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

void require_none(const Source& source) {
  for (int64_t length : source.lengths ? source.lengths.values<int64_t>() : std::vector<int64_t>{})
    require(length == 0, "language model: found a source of {} tokens, expected none", length);
  require(source.lengths || !source.ids || source.ids.elements() == 0,
          "language model: found a source {}, expected none", source.ids.shape());
}

}  // namespace

int64_t first_id(std::string_view name, const std::vector<int64_t>& ids, int64_t vocabulary) {
  for (int64_t id : ids)
    require(-1 <= id && id < vocabulary, "{}: found {}, expected an id below {} or null", name, id, vocabulary);
  return ids.empty() ? -1 : ids[0];
}

Tensor CausalModel::read(const Source& source, const Tensor& ids, const Context& context) const {
  require_none(source);
  require(ids && ids.rank() == 2 && ids.dtype() == DType::i64,
          "language model: found ids {}, expected I64 [batch, tokens]", ids ? ids.shape().text() : "missing");
  Context c = context;
  c.cache = nullptr;
  return states(ids, c);
}

Tensor CausalModel::logits(const Source& source, const Tensor& ids, const Context& context) const {
  return output(read(source, ids, context));
}

void CausalModel::each_logits(const Tensor& ids, const Context& context, const SomeLogits& each) const {
  constexpr int64_t at_a_time = 128;  // of up to 262,144 pieces 134 MB
  require(ids && ids.rank() == 2 && ids.size(0) == 1, "language model: found ids {}, expected one row of them",
          ids ? ids.shape().text() : "missing");
  const Tensor all = read({}, ids, context).select(0, 0);
  for (int64_t begin = 0; begin < all.size(0); begin += at_a_time)
    each(begin, output(all.slice(0, begin, std::min(all.size(0), begin + at_a_time))));
}

std::unique_ptr<DecoderState> CausalModel::start(const Source& source, const Context&) const {
  require_none(source);
  auto state = std::make_unique<CacheState>(Cache::long_page);
  state->cache.add_rows(source.lengths ? source.lengths.size(0) : source.ids ? source.ids.size(0) : 0);
  return state;
}

Tensor CausalModel::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
                          const Context& context) const {
  return output(dynamic_cast<CacheState&>(state).step(
      ids, starts, context, [&](const Tensor& tokens, const Context& c) { return states(tokens, c); }));
}

}  // namespace fovea
