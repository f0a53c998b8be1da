// What the shapes of one attention call are, once they have been checked.
#pragma once

#include "fovea/attention/attention.h"

namespace fovea {

struct AttentionSizes {
  int64_t batch, queries, keys, heads, key_heads, query_width, key_width, value_width;
  int64_t group() const { return heads / key_heads; }
};

// An Error that says what was found and expected if the tensors, weights and options do not go together.
AttentionSizes checked_sizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions&);

}  // namespace fovea
