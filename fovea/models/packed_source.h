// The tokens of all rows one after another, without padding: row r has [starts[r], starts[r + 1]).
//
//   const PackedSource p = packed(source);   Tensor y = layer(words(p.ids), p.mask(), context);
//   return unpacked(y, p, source.ids.size(1));         // [batch, tokens, width], zeros beyond a row's length
#pragma once

#include <vector>

#include "fovea/attention/mask.h"
#include "fovea/models/abilities.h"

namespace fovea {

struct PackedSource {
  Tensor ids;  // i64 [1, tokens]
  std::vector<int64_t> starts;
  Tensor types = {};  // i64 [1, tokens], if the source has them

  int64_t rows() const { return static_cast<int64_t>(starts.size()) - 1; }
  Mask mask() const { return {.query_starts = tensor({rows() + 1}, starts)}; }
};

PackedSource packed(const Source&);

Tensor unpacked(const Tensor& states, const PackedSource&,
                int64_t tokens);                                 // [1, tokens of all rows, width] → rectangle
Tensor first_tokens(const Tensor& states, const PackedSource&);  // [rows, width]; an Error if a row is empty

}  // namespace fovea
