#include "fovea/train/masking.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

std::vector<int64_t> candidates(std::span<const int64_t> ids, const MaskingRules& rules) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < ids.size(); ++i)
    if (std::ranges::find(rules.kept, ids[i]) == rules.kept.end()) places.push_back(static_cast<int64_t>(i));
  return places;
}

int64_t count_of(size_t candidates, const MaskingRules& rules) {
  const int64_t wanted = std::lround(rules.share * static_cast<double>(candidates));
  return candidates == 0 ? 0 : std::max<int64_t>(wanted, 1);
}

}  // namespace

int64_t masked_count(std::span<const int64_t> ids, const MaskingRules& rules) {
  return count_of(candidates(ids, rules).size(), rules);
}

MaskedRow mask_tokens(std::span<const int64_t> ids, const MaskingRules& rules, const Random& random) {
  MaskedRow row = {{ids.begin(), ids.end()}, candidates(ids, rules), {}};
  const int64_t count = count_of(row.places.size(), rules);
  const Random which = random.fork("which"), how = random.fork("how"), other = random.fork("other");
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    std::swap(row.places[i], row.places[i + which.below(row.places.size() - i, i)]);
  row.places.resize(static_cast<size_t>(count));
  std::ranges::sort(row.places);
  for (size_t i = 0; i < row.places.size(); ++i) {
    int64_t& id = row.ids[static_cast<size_t>(row.places[i])];
    row.wanted.push_back(id);
    const double draw = how.uniform(i);
    if (draw < rules.masked) {
      id = rules.mask;
    } else if (draw < rules.masked + rules.replaced) {
      id = static_cast<int64_t>(other.below(static_cast<uint64_t>(rules.vocabulary), i));
    }
  }
  return row;
}

}  // namespace fovea
