#include "fovea/train/packing.h"

#include <algorithm>

#include "fovea/generate/continue.h"

namespace fovea {

std::vector<StreamWindow> windows(int64_t tokens, const StreamWindowOptions& o) {
  const int64_t stride = o.stride > 0 ? o.stride : o.context;
  require(o.context > 0 && stride <= o.context,
          "windows: found a context of {} and a stride of {}, expected at most as many", o.context, stride);
  std::vector<StreamWindow> all;
  for (int64_t begin = 0, fresh = 1; fresh < tokens; begin += stride) {
    const int64_t end = std::min(begin + o.context + 1, tokens);
    all.push_back({begin, end, fresh});
    fresh = end;
  }
  return all;
}

void TokenStream::add(std::string_view document) {
  const std::vector<int64_t> ends = model_.end_ids();
  if (!starts_.empty() && !ends.empty() && ends[0] >= 0) ids_.push_back(ends[0]);
  starts_.push_back(size());
  const std::vector<int64_t> more = prompt_ids(model_, tokenizer_, document);
  ids_.insert(ids_.end(), more.begin(), more.end());
}

std::vector<int64_t> TokenStream::ids(const StreamWindow& w) const {
  std::vector<int64_t> ids(ids_.begin() + w.begin, ids_.begin() + w.end);
  if (!tokenizer_.frames()) return ids;
  const std::vector<int64_t> framed = tokenizer_.frame({}).ids;
  if (w.begin > 0 && !framed.empty() && framed[0] == model_.special_ids().bos) ids[0] = framed[0];
  return ids;
}

}  // namespace fovea
