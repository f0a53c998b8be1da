// Where the generation of a batch stands if a decoder looks back by attention alone: its cache.
//
//   auto state = std::make_unique<CacheState>();
//   Tensor y = state->step(ids, starts, context, [&](const Tensor& ids, const Context& c) { return decoder(ids, c); });
#pragma once

#include "fovea/attention/cache.h"
#include "fovea/models/abilities.h"
#include "fovea/tensor/index.h"

namespace fovea {

struct CacheState final : DecoderState {
  explicit CacheState(int64_t page_tokens = Cache::default_page) : cache(page_tokens) {}

  Cache cache;

  int64_t rows() const override { return cache.rows(); }
  void reorder(std::span<const int64_t> rows) override { cache.reorder(rows); }
  void append(DecoderState&& other) override { cache.append(std::move(dynamic_cast<CacheState&>(other).cache)); }

  // decode(ids [1, tokens of all rows], context) → [1, tokens, width]; the states of each row's last token, [rows, width].
  template <class Decode>
  Tensor step(const Tensor& ids, std::span<const int64_t> starts, const Context& context, Decode&& decode) {
    const std::vector<int64_t> last = last_tokens(ids, starts);
    Context c = context;
    c.cache = &cache;
    cache.begin(starts);
    const Tensor y = decode(ids.unsqueeze(0), c).squeeze(0);
    const int64_t count = static_cast<int64_t>(last.size());
    return y.size(0) == count ? y : fovea::rows(y, tensor({count}, last));
  }
};

}  // namespace fovea
