#include "fovea/generate/joining.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fovea {
namespace {

const Translation& best(const JoinedPart& part, size_t k) { return part.found[std::min(k, part.found.size() - 1)]; }

std::string gap_behind(std::string_view translated) {
  for (const char* mark : {"。", "！", "？", "｡", "」", "』"})
    if (translated.ends_with(mark)) return "";
  return " ";
}

Tensor joined_attention(const std::vector<JoinedPart>& parts, size_t k) {
  int64_t tokens = 1, rows = 0;
  for (const JoinedPart& p : parts) tokens += p.tokens;
  for (const JoinedPart& p : parts) rows += best(p, k).attention.size(0);
  Tensor all = zeros({rows, tokens});
  float* to = all.data<float>();
  int64_t column = 0;
  for (const JoinedPart& p : parts) {
    const Tensor part = best(p, k).attention.contiguous();
    const int64_t width = part.size(1);
    const float* from = part.data<float>();
    for (int64_t i = 0; i < part.size(0); ++i, from += width, to += tokens) {
      std::copy(from, from + width - 1, to + column);
      to[tokens - 1] = from[width - 1];
    }
    column += width - 1;
  }
  return all;
}

Translation joined(const std::vector<JoinedPart>& parts, size_t k, double length_penalty) {
  Translation all;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Translation& t = best(parts[i], k);
    if (i > 0 && !all.text.empty() && !t.text.empty()) all.text += parts[i].gap.value_or(gap_behind(all.text));
    const auto offset = static_cast<int64_t>(all.text.size());
    all.text += t.text;
    for (Span span : t.tokens) all.tokens.push_back({offset + span.begin, offset + span.end});
    all.log_probabilities.insert(all.log_probabilities.end(), t.log_probabilities.begin(), t.log_probabilities.end());
    all.unsure.insert(all.unsure.end(), t.unsure.begin(), t.unsure.end());
    if (!t.copied) continue;
    if (!all.copied) all.copied.emplace();
    for (Span span : *t.copied) all.copied->push_back({offset + span.begin, offset + span.end});
  }
  const double sum = std::accumulate(all.log_probabilities.begin(), all.log_probabilities.end(), 0.0);
  all.score = sum / std::pow(static_cast<double>(all.log_probabilities.size()), length_penalty);
  if (parts[0].found[0].attention) all.attention = joined_attention(parts, k);
  return all;
}

}  // namespace

std::vector<Translation> join(std::vector<JoinedPart> parts, double length_penalty) {
  if (parts.size() == 1) return std::move(parts[0].found);
  size_t most = 0;
  for (const JoinedPart& p : parts) most = std::max(most, p.found.size());
  std::vector<Translation> all;
  for (size_t k = 0; k < most; ++k) all.push_back(joined(parts, k, length_penalty));
  return all;
}

Translation kept_translation(std::string_view text, const std::vector<Span>& tokens, bool attention) {
  const Span visible = without_spaces(text, {tokens.front().begin, tokens.back().end});
  const auto count = static_cast<int64_t>(tokens.size()) + 1, size = visible.size();
  Translation t = {.text = std::string(piece_of(text, visible))};
  for (Span span : tokens)
    t.tokens.push_back({std::clamp<int64_t>(span.begin - visible.begin, 0, size),
                        std::clamp<int64_t>(span.end - visible.begin, 0, size)});
  t.tokens.push_back({size, size});
  t.log_probabilities.resize(t.tokens.size());
  if (!attention) return t;
  t.attention = zeros({count, count});
  for (int64_t i = 0; i < count; ++i) t.attention.data<float>()[i * count + i] = 1;
  return t;
}

}  // namespace fovea
