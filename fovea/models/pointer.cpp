#include "fovea/models/pointer.h"

#include "fovea/models/copying.h"
#include "fovea/tensor/index.h"

namespace fovea {

Pointer::Pointer(int64_t width)
    : query_({.inputs = width, .outputs = width}),
      key_({.inputs = width, .outputs = width}),
      gate_({.inputs = 2 * width, .outputs = 1}),
      attention_({.form = "scaled-dot", .query_width = width, .memory_width = width}) {}

void Pointer::weights(Weights& w) {
  w("query", query_);
  w("key", key_);
  w("gate", gate_);
}

SourceKeys Pointer::keys(const Tensor& memory, const Tensor& lengths, const Context& c) const {
  const Tensor keys = key_(memory);
  return c.training || keys.needs_gradient() ? attention_.weighed_keys(keys, lengths) : attention_.keys(keys, lengths);
}

SourceKeys Pointer::packed_keys(const Tensor& memories, std::span<const int64_t> starts) const {
  return attention_.packed_keys(key_(memories), starts);
}

Tensor Pointer::operator()(const Tensor& logits, const Tensor& states, const SourceKeys& keys, const Tensor& ids,
                           const Context& context) const {
  const Context c = context.at("decoder");
  const SourceAttention::Seen seen = attention_.look(query_(states), keys, c.at("pointer"));
  return with_copies(logits, gate_(concat({states, seen.context}, -1)), seen.weights, ids, c);
}

}  // namespace fovea
