#include "fovea/generate/followed.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/kernels/select.h"
#include "fovea/tensor/index.h"

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

void FollowedTrace::saw(const Tensor& logits, const std::vector<float>& sums) {
  if (!into_ || steps_.empty()) return;
  Step& step = steps_.back();
  const auto rows = static_cast<int64_t>(sums.size()), width = logits.size(1);
  step.likely = zeros({rows, likely_tokens}), step.ids = full({rows, likely_tokens}, -1, DType::i64);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = row * likely_tokens;
    const std::span<const float> one(logits.data<float>() + row * width, static_cast<size_t>(width));
    for (const auto& [logit, id] : kernels::largest(one, likely_tokens)) {
      step.likely.data<float>()[at] = std::exp(logit - sums[static_cast<size_t>(row)]);
      step.ids.data<int64_t>()[at++] = id;
    }
  }
}

void FollowedTrace::add_likely() {
  std::vector<Tensor> likely, ids;
  for (const Step& step : steps_) {
    if (!step.writes || likely.size() == rows_.size()) continue;
    const int64_t row = rows_[likely.size()];
    if (!step.likely || row >= step.likely.size(0)) return;
    likely.push_back(step.likely.slice(0, row, row + 1)), ids.push_back(step.ids.slice(0, row, row + 1));
  }
  if (likely.empty()) return;
  const Shape shape = {1, 1, static_cast<int64_t>(likely.size()), likely_tokens};
  ProbeResult all;
  all.top_weights = concat(likely, 0).contiguous().reshape(shape);
  all.top_keys = concat(ids, 0).contiguous().reshape(shape);
  into_->add(likely_place, std::move(all));
}

// Steps after the last token of the best hypothesis were those of others.
void FollowedTrace::finish() {
  if (!into_) return;
  std::map<std::string, std::vector<std::pair<Tensor, int64_t>>> parts;
  std::map<std::string, std::shared_ptr<const KeptAttention>> kept;
  size_t written = 0;
  for (const Step& step : steps_) {
    if (step.writes && written == rows_.size()) break;
    const int64_t row = step.writes ? rows_[written++] : 0;
    for (const auto& [place, runs] : step.trace.results()) {
      for (const ProbeResult& run : runs) {
        if (run.weights)
          parts[place].emplace_back(run.weights, row), kept[place] = run.kept;
        else
          into_->add(place, run);
      }
    }
  }
  for (const auto& [place, all] : parts) {
    ProbeResult one;
    one.weights = stacked(all);
    if (all.size() == 1) one.kept = kept[place];
    into_->add(place, std::move(one));
  }
  add_likely();
}

}  // namespace fovea
