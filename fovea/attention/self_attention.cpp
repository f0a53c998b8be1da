#include "fovea/attention/self_attention.h"

#include "fovea/attention/cache.h"
#include "fovea/attention/probe.h"

namespace fovea {

AttentionResult attend_to_self(const void* attention, const Projected& p, const AttentionOptions& o, const Context& c) {
  if (!c.cache) return attend(p.queries, p.keys, p.values, o, c);
  require(!c.training, "attention: found a cache in training, expected none: it keeps no gradient");
  KeyCache& keys = c.cache->at(attention);
  keys.append(p.keys, p.values, *o.form, o.weights, kernel_precision(o));
  return attend(p.queries, keys, c.cache->starts(), o, c);
}

void remember(const void* attention, const Projected& memories, const AttentionOptions& o, const Context& c) {
  require(c.cache != nullptr, "attention: found no cache to remember in, expected the context's");
  c.cache->memory_at(attention).append(memories.keys, memories.values, *o.form, o.weights, kernel_precision(o));
}

AttentionResult attend_to_memory(const void* attention, const Projected& p, const AttentionOptions& o,
                                 const Context& c) {
  if (!c.cache) return attend(p.queries, p.keys, p.values, o, c);
  return attend(p.queries, c.cache->memory_at(attention), c.cache->starts(), o, c);
}

std::vector<int64_t> token_positions(const Mask& mask, int64_t tokens, const Context& c) {
  return c.cache ? c.cache->positions() : positions_of(mask, tokens);
}

}  // namespace fovea
