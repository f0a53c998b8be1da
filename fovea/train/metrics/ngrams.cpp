#include "fovea/train/metrics/ngrams.h"

#include <algorithm>

namespace fovea {

Ngrams::Ngrams(const std::vector<std::string_view>& units, const Options& options)
    : counts_(static_cast<size_t>(options.orders)), units_(static_cast<int64_t>(units.size())) {
  size_t size = 0;
  for (std::string_view unit : units) size += unit.size() + options.separator.size();
  text_.reserve(size);
  std::vector<size_t> begins, ends;
  for (std::string_view unit : units) {
    begins.push_back(text_.size());
    text_.insert(text_.end(), unit.begin(), unit.end());
    ends.push_back(text_.size());
    text_.insert(text_.end(), options.separator.begin(), options.separator.end());
  }
  for (size_t order = 1; order <= counts_.size(); ++order) {
    counts_[order - 1].reserve(units.size());
    for (size_t i = 0; i + order <= units.size(); ++i)
      ++counts_[order - 1][{text_.data() + begins[i], ends[i + order - 1] - begins[i]}];
  }
}

int64_t Ngrams::total(int order) const { return std::max<int64_t>(0, units_ - order + 1); }

int64_t overlap(const Ngrams::Counts& a, const Ngrams::Counts& b) {
  int64_t matches = 0;
  for (const auto& [ngram, count] : a) {
    if (auto found = b.find(ngram); found != b.end()) matches += std::min(count, found->second);
  }
  return matches;
}

}  // namespace fovea
