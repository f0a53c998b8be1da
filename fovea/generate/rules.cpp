#include "fovea/generate/rules.h"

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr float excluded = -std::numeric_limits<float>::infinity();

void exclude_ids(std::span<float> row, const std::vector<int64_t>& ids) {
  for (int64_t id : ids)
    if (id >= 0 && static_cast<size_t>(id) < row.size()) row[static_cast<size_t>(id)] = excluded;
}

}  // namespace

void penalise_repetition(std::span<float> logits, const std::vector<int64_t>& ids, double penalty) {
  std::vector<int64_t> once = ids;
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  for (int64_t id : once) {
    float& logit = logits[static_cast<size_t>(id)];
    logit = static_cast<float>(logit > 0 ? logit / penalty : logit * penalty);
  }
}

std::vector<int64_t> repeating(const std::vector<int64_t>& ids, int64_t n) {
  std::vector<int64_t> found;
  const auto before = static_cast<std::ptrdiff_t>(n - 1);
  if (n <= 0 || ids.size() < static_cast<size_t>(n)) return found;
  const auto tail = ids.end() - before;
  for (auto at = ids.begin(); at + before < ids.end(); ++at)
    if (std::equal(tail, ids.end(), at)) found.push_back(at[before]);
  return found;
}

Rules::Rules(const GenerationConfig& config, const SpecialIds& special)
    : config_(config), ends_(config.end_ids), never_(config.never) {
  if (ends_.empty() && special.eos >= 0) ends_ = {special.eos};
  if (special.unk >= 0) never_.push_back(special.unk);
}

bool Rules::is_end(int64_t id) const { return std::find(ends_.begin(), ends_.end(), id) != ends_.end(); }

void Rules::exclude(std::span<float> row, const std::vector<int64_t>& history, int64_t written,
                    int64_t min_length) const {
  std::vector<float> endings;
  for (int64_t id : ends_) {
    require(id >= 0 && static_cast<size_t>(id) < row.size(), "generation: found an end {}, expected an id below {}", id,
            row.size());
    endings.push_back(row[static_cast<size_t>(id)]);
  }
  if (config_.no_repeat_ngram > 0) exclude_ids(row, repeating(history, config_.no_repeat_ngram));
  for (size_t i = 0; i < ends_.size(); ++i)  // a text may end as another did
    row[static_cast<size_t>(ends_[i])] = written < min_length ? excluded : endings[i];
  exclude_ids(row, never_);
  if (written == 0) exclude_ids(row, config_.not_first);
  for (const std::vector<int64_t>& words : config_.never_in_a_row) {
    if (words.empty() || words.size() - 1 > history.size()) continue;
    if (std::equal(words.begin(), words.end() - 1, history.end() - static_cast<std::ptrdiff_t>(words.size() - 1)))
      exclude_ids(row, {words.back()});
  }
}

}  // namespace fovea
