// Which keys a query may see. All parts hold at once.
//
//   Mask mask = {.causal = true, .window = 256};
//   Mask padded = {.key_lengths = lengths};            // i64 [batch]
#pragma once

#include <vector>

#include "fovea/kernels/attention.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct Mask {
  bool causal = false;  // query i sees keys up to i + keys − queries: aligned to the end when there are more keys
  int64_t window = 0;   // keys at a distance below this from that position; 0: all

  // Padding: only so many keys (queries) of each batch row are real, i64 [batch]. Queries beyond give zeros. Causal and
  // window align the real ones.
  Tensor key_lengths = {}, query_lengths = {};

  // Packed sequences: one batch row holds many, sequence s has queries query_starts[s] … query_starts[s + 1] − 1 and keys
  // likewise, i64 [sequences + 1]. key_starts may be empty if they are the same.
  Tensor query_starts = {}, key_starts = {};

  // i8, nonzero: visible; broadcast to [batch (or sequences), heads, queries, keys].
  Tensor visible = {};
};

// The sequences of a batch as the kernel takes them; empty if every row is whole. Checks what the mask claims.
std::vector<kernels::Sequence> sequences_of(const Mask&, int64_t batch, int64_t queries, int64_t keys);

// The explicit mask with four axes, [batch (or sequences), heads or 1, queries, keys], by strides of 0.
Tensor expanded_mask(const Mask&, int64_t batch, int64_t queries, int64_t keys);

// The whole mask written out, i8 [batch, heads or 1, queries, keys]; what the formula uses.
Tensor dense_mask(const Mask&, int64_t batch, int64_t queries, int64_t keys);

// Where each pair's distance j − (i + keys − queries) within its sequence stands on a line of distances that begins at
// −(keys − 1), i64 [batch, queries, keys]; 0 between sequences.
Tensor distance_places(const Mask&, int64_t batch, int64_t queries, int64_t keys);

}  // namespace fovea
