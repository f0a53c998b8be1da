// Which keys a query may see. All parts hold at once.
//
//   Mask mask = {.causal = true, .window = 256};
//   Mask padded = {.causal = true, .key_lengths = lengths};              // i64 [batch]; query i sees real keys up to i
//
// Query i stands at the position of key  i + keys − queries,  so that the last query is at the last key, as decoding with a
// cache needs it; lengths do not move it. query_offsets say otherwise:  i + query_offsets[batch row or sequence].
#pragma once

#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct Mask {
  bool causal = false;  // no key behind the query's own position
  int64_t window = 0;   // keys at a distance below this from that position; 0: all

  // Where the first query of each batch row (or packed sequence) stands among its keys, −queries to keys, i64 [batch (or
  // sequences)]. With caches of unequal lengths: key_lengths − queries.
  Tensor query_offsets = {};

  // Padding: only so many keys (queries) of each batch row are real, i64 [batch]. Queries beyond give zeros.
  Tensor key_lengths = {}, query_lengths = {};

  // Packed sequences: one batch row holds many, sequence s has queries query_starts[s] … query_starts[s + 1] − 1 and keys
  // likewise, i64 [sequences + 1]. key_starts may be empty if they are the same.
  Tensor query_starts = {}, key_starts = {};

  // i8, nonzero: visible; broadcast to [batch (or sequences), heads, queries, keys].
  Tensor visible = {};
};

// Where each token of a self-attention stands in its sequence, [tokens].
std::vector<int64_t> positions_of(const Mask&, int64_t tokens);

// The explicit mask with four axes, [batch (or sequences), heads or 1, queries, keys], by strides of 0.
Tensor expanded_mask(const Mask&, int64_t batch, int64_t queries, int64_t keys);

// The whole mask written out, i8 [batch, heads or 1, queries, keys]; what the formula uses.
Tensor dense_mask(const Mask&, int64_t batch, int64_t queries, int64_t keys);

// The distances that pairs of a query and a key may have, key position − query position.
struct Distances {
  int64_t first = 0, count = 0;
};
Distances distances_of(const Mask&, int64_t queries, int64_t keys);

// Where each pair's distance stands among distances_of(mask), i64 [batch, queries, keys]; 0 between sequences.
Tensor distance_places(const Mask&, int64_t batch, int64_t queries, int64_t keys);

}  // namespace fovea
