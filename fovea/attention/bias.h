// What is added to the scores before the softmax, in O(tokens) memory where it depends on the distance alone.
//
//   Bias alibi = {.slopes = alibi_slopes(heads)};                        // Press, Smith and Lewis 2021
//   Bias t5 = {.table = table, .buckets = {.bidirectional = true}};      // Raffel et al. 2019, learned
#pragma once

#include "fovea/attention/mask.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// T5's buckets: half of them for exact small distances, the other half growing logarithmically up to `farthest`.
struct RelativeBuckets {
  bool bidirectional = true;  // a half of the buckets for each direction; otherwise keys after the query share bucket 0
  int64_t farthest = 128;

  int64_t bucket(int64_t distance, int64_t buckets) const;  // distance: key position − query position
};

struct Bias {
  Tensor slopes = {};  // ALiBi, [heads]: −slope · |distance|
  Tensor table = {};   // learned, [buckets, heads] as T5 stores it
  RelativeBuckets buckets = {};
  Tensor added = {};  // explicit, broadcast to [batch (or sequences), heads, queries, keys]; −∞ masks
};

// The slopes of ALiBi's paper for any number of heads: 2^(−8 i / heads), interleaved when that is no power of two.
Tensor alibi_slopes(int64_t heads);

// The bias by distance, [heads, count], for the distances given; empty if there is none.
Tensor distance_line(const Bias&, int64_t heads, const Distances&, DType type);

// The whole bias written out, broadcastable to [batch, heads, queries, keys]; empty if there is none.
Tensor dense_bias(const Bias&, const Mask&, Shape scores, DType type);

}  // namespace fovea
