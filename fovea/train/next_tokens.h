// What a model reads that writes from left to right, and what it shall write then: of a b c it reads a b, and b c is wanted.
//
//   const NextTokens t = next_tokens(batch.columns[1]);
//   writer.loss(source, t.read, t.wanted, {.ignored = no_target, .reduction = Reduction::sum}, context);
#pragma once

#include "fovea/data/batches.h"

namespace fovea {

inline constexpr int64_t no_target = -100;

struct NextTokens {
  Tensor read, wanted;  // [rows, tokens − 1]; wanted is no_target behind a row's end
};
NextTokens next_tokens(const Column&);
int64_t count_next_tokens(const Column&);  // wanted of all rows

}  // namespace fovea
