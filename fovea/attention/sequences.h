// The sequences of a batch as the kernels take them.
//
//   std::vector<kernels::SequenceSpan> spans = sequences_of(mask, batch, queries, keys);
#pragma once

#include <vector>

#include "fovea/attention/mask.h"
#include "fovea/kernels/attention.h"

namespace fovea {

// Empty if every row is whole and its queries stand at the last keys. Checks what the mask claims.
std::vector<kernels::SequenceSpan> sequences_of(const Mask&, int64_t batch, int64_t queries, int64_t keys);

// The same with whole rows written out.
std::vector<kernels::SequenceSpan> all_sequences_of(const Mask&, int64_t batch, int64_t queries, int64_t keys);

}  // namespace fovea
