#include "fovea/generate/followed.h"

#include <algorithm>
#include <map>

namespace fovea {
namespace {

// Row `row` of each part [rows, heads, queries, keys], one behind the other, with as many keys as the part that has the most.
Tensor stacked(const std::vector<std::pair<Tensor, int64_t>>& parts) {
  int64_t queries = 0, keys = 0;
  const int64_t heads = parts[0].first.size(1);
  for (const auto& [part, row] : parts) queries += part.size(2), keys = std::max(keys, part.size(3));
  Tensor all = zeros({1, heads, queries, keys});
  int64_t at = 0;
  for (const auto& [given, row] : parts) {
    const Tensor part = given.contiguous();
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t i = 0; i < part.size(2); ++i) {
        const float* from = part.data<float>() + ((row * heads + h) * part.size(2) + i) * part.size(3);
        std::copy_n(from, part.size(3), all.data<float>() + (h * queries + at + i) * keys);
      }
    }
    at += part.size(2);
  }
  return all;
}

}  // namespace

Trace* FollowedTrace::next(bool writes) {
  if (!into_) return nullptr;
  steps_.push_back({Trace(into_->probe()), writes});
  steps_.back().trace.places = into_->places;
  return &steps_.back().trace;
}

// Steps after the last token of the best hypothesis were those of others.
void FollowedTrace::finish() {
  if (!into_) return;
  std::map<std::string, std::vector<std::pair<Tensor, int64_t>>> parts;
  size_t written = 0;
  for (const Step& step : steps_) {
    if (step.writes && written == rows_.size()) break;
    const int64_t row = step.writes ? rows_[written++] : 0;
    for (const auto& [place, runs] : step.trace.results()) {
      for (const ProbeResult& run : runs) {
        if (run.weights)
          parts[place].emplace_back(run.weights, row);
        else
          into_->add(place, run);
      }
    }
  }
  for (const auto& [place, all] : parts) into_->add(place, {.weights = stacked(all)});
}

}  // namespace fovea
