// Attention of tokens over themselves, or over a memory, whether everything is there at once or a cache has gathered it.
//
//   const std::vector<int64_t> positions = token_positions(mask, tokens, context);
//   Tensor y = attend_to_self(this, {q, k, v}, {.mask = {.causal = true}}, context).output;
//
// The cache in the context knows keys and values by the address of the module whose attention it is. With a cache the tokens
// are those that its step adds, [1, tokens of all rows, heads, width].
#pragma once

#include <vector>

#include "fovea/attention/attention.h"

namespace fovea {

struct Projected {
  Tensor queries, keys, values;  // [batch, tokens, heads, width]; keys and values have key heads
};

AttentionResult attend_to_self(const void* attention, const Projected&, const AttentionOptions&, const Context&);

// Keys and values of all rows' memories, [1, tokens, key heads, width], go into the context's cache …
void remember(const void* attention, const Projected& memories, const AttentionOptions&, const Context&);
// … which are looked at instead of those given, if there is a cache.
AttentionResult attend_to_memory(const void* attention, const Projected&, const AttentionOptions&, const Context&);

// Where each token stands in its sequence: as the cache counts, or by the mask.
std::vector<int64_t> token_positions(const Mask&, int64_t tokens, const Context&);

}  // namespace fovea
