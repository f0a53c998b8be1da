#include "fovea/generate/word_links.h"

#include <algorithm>

namespace fovea {
namespace {

// The words that share bytes with each token, most often one or none.
std::vector<std::vector<size_t>> words_of(const std::vector<Span>& tokens, const std::vector<Span>& words) {
  std::vector<std::vector<size_t>> found(tokens.size());
  size_t first = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    while (first < words.size() && words[first].end <= tokens[i].begin) ++first;
    for (size_t w = first; w < words.size() && words[w].begin < tokens[i].end; ++w) found[i].push_back(w);
  }
  return found;
}

}  // namespace

std::vector<Span> plain_words(std::string_view text) {
  std::vector<Span> words;
  if (invalid_utf8(text) != std::string_view::npos) return words;
  const std::vector<CodePoint> points = code_points(text);
  for (size_t i = 0; i < points.size(); ++i) {
    const char32_t c = points[i].value;
    const bool inner = c == U'-' || c == U'\'' || c == U'’';
    const bool goes_on = !words.empty() && words.back().end == points[i].span.begin;
    if (is_word_character(c) && goes_on)
      words.back().end = points[i].span.end;
    else if (is_word_character(c))
      words.push_back(points[i].span);
    else if (inner && goes_on && i + 1 < points.size() && is_word_character(points[i + 1].value))
      words.back().end = points[i].span.end;
  }
  return words;
}

WordLinks::WordLinks(std::string_view source, const std::vector<Span>& source_tokens, const Translation& t)
    : source_(plain_words(source)), target_(plain_words(t.text)) {
  weights_.resize(source_.size() * target_.size());
  const auto columns = words_of(source_tokens, source_), rows = words_of(t.tokens, target_);
  const Tensor weights = t.attention.contiguous();
  std::vector<float> tokens(target_.size());
  for (const std::vector<size_t>& words : rows)
    for (size_t row : words) ++tokens[row];
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < columns.size(); ++j)
      for (size_t row : rows[i])
        for (size_t column : columns[j])
          weights_[row * source_.size() + column] += weights.data<float>()[i * columns.size() + j] / tokens[row];
}

std::optional<Span> WordLinks::best_for(size_t source_word) const {
  if (target_.empty() || source_word >= source_.size()) return {};
  size_t best = 0;
  for (size_t t = 1; t < target_.size(); ++t)
    if (weight(t, source_word) > weight(best, source_word)) best = t;
  return target_[best];
}

std::optional<Span> WordLinks::made_from(Span span) const {
  std::optional<Span> all;
  const auto extend = [&](Span word) {
    all = all ? Span{std::min(all->begin, word.begin), std::max(all->end, word.end)} : word;
  };
  const auto inside = [&](size_t s) { return source_[s].begin >= span.begin && source_[s].end <= span.end; };
  for (size_t t = 0; t < target_.size(); ++t) {
    size_t best = 0;
    for (size_t s = 1; s < source_.size(); ++s)
      if (weight(t, s) > weight(t, best)) best = s;
    if (!source_.empty() && inside(best)) extend(target_[t]);
  }
  for (size_t s = 0; !all && s < source_.size(); ++s)
    if (inside(s)) all = best_for(s);
  return all;
}

}  // namespace fovea
