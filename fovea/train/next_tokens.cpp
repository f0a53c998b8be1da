#include "fovea/train/next_tokens.h"

#include <algorithm>

namespace fovea {

NextTokens next_tokens(const Column& column) {
  const int64_t tokens = column.ids.size(1);
  NextTokens t = {column.ids.slice(1, 0, tokens - 1).contiguous(), column.ids.slice(1, 1, tokens).clone()};
  for (int64_t row = 0; row < t.wanted.size(0); ++row) {
    int64_t* ids = t.wanted.data<int64_t>() + row * (tokens - 1);
    std::fill(ids + column.lengths.data<int64_t>()[row] - 1, ids + tokens - 1, no_target);
  }
  return t;
}

int64_t count_next_tokens(const Column& column) {
  int64_t count = 0;
  for (int64_t row = 0; row < column.lengths.size(0); ++row) count += column.lengths.data<int64_t>()[row] - 1;
  return count;
}

}  // namespace fovea
