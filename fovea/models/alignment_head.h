// A head of a decoder's attention to its source, which says what each word was made from, or when it was said.
//
//   AlignmentHead{.layer = 2, .head = 0};              // [2, 0] of "alignment_heads" in generation_config.json
#pragma once

#include <cstdint>

namespace fovea {

struct AlignmentHead {
  int64_t layer = 0;  // the number of the cross-attention among those of the model, as Whisper's files count them
  int64_t head = 0;
  bool operator==(const AlignmentHead&) const = default;
};

}  // namespace fovea
