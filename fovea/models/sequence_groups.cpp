#include "fovea/models/sequence_groups.h"

#include <algorithm>

#include "fovea/tensor/index.h"

namespace fovea {
namespace {

// Rows enough that a layer's weights, which each group reads anew, are 64 KB a row at the most.
int64_t rows_of_group(int64_t width) {
  constexpr int64_t least = 96, weights = 12 * sizeof(float), worth_a_row = 65536;
  return std::max(least, width * width * weights / worth_a_row);
}

// The first sequence of each group, and how many there are: groups of about the same size, the same number for each thread.
std::vector<size_t> cut(const std::vector<int64_t>& starts, int64_t width) {
  const size_t sequences = starts.size() - 1;
  const int64_t tokens = starts.back(), rows = rows_of_group(width);
  const int64_t count = ((tokens + rows - 1) / rows + threads() - 1) / threads() * threads();
  std::vector<size_t> first = {0};
  for (size_t s = 1; s < sequences && tokens > 0; ++s)
    if (starts[s] * count >= std::ssize(first) * tokens) first.push_back(s);
  first.push_back(sequences);
  return first;
}

}  // namespace

SequenceGroups::SequenceGroups(const Tensor& x, const std::vector<int64_t>& starts, const Context& c) {
  const std::vector<size_t> whole = {0, starts.size() - 1};
  std::vector<size_t> first = whole;
  if (!c.training && !c.trace && starts.size() > 2) first = cut(starts, x.size(2));
  if (std::ssize(first) - 1 < 2 * threads()) first = whole;
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    const int64_t begin = starts[first[i]], end = starts[first[i + 1]];
    std::vector<int64_t> own;
    for (size_t s = first[i]; s <= first[i + 1]; ++s) own.push_back(starts[s] - begin);
    groups_.push_back({x.slice(1, begin, end), {.query_starts = tensor({std::ssize(own)}, own)}});
  }
}

Tensor SequenceGroups::joined() const {
  if (groups_.size() == 1) return groups_[0].x;
  std::vector<Tensor> parts;
  for (const Group& g : groups_) parts.push_back(g.x);
  return concat(parts, 1);
}

}  // namespace fovea
