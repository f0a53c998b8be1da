#include "fovea/generate/pieces.h"

#include <algorithm>

#include "fovea/data/text/sentences.h"

namespace fovea {
namespace {

using Range = std::pair<size_t, size_t>;

// The tokens of each sentence; one that stands for the white space between two belongs to the second, as SentencePiece means it.
std::vector<Range> sentences_of(std::string_view text, const std::vector<Span>& tokens) {
  std::vector<Range> ranges;
  size_t begin = 0;
  for (Span sentence : split_sentences(text)) {
    size_t end = begin;
    while (end < tokens.size() && tokens[end].begin < sentence.end) ++end;
    if (end > begin) ranges.emplace_back(std::exchange(begin, end), end);
  }
  if (begin < tokens.size() && ranges.empty()) ranges.emplace_back(begin, begin);
  if (begin < tokens.size()) ranges.back().second = tokens.size();
  return ranges;
}

std::string_view word_at(std::string_view text, Span token) {
  const std::string_view rest = text.substr(static_cast<size_t>(token.begin));
  return rest.substr(0, rest.find(' '));
}

// How well a text may be cut before a token: 0 inside of a word, 1 between words, 2 before "and", 3 and 4 behind marks.
int rank(std::string_view text, const std::vector<Span>& tokens, size_t token) {
  const std::string_view before = text.substr(0, static_cast<size_t>(tokens[token - 1].end));
  const auto behind = [&](std::initializer_list<const char*> marks) {
    return std::ranges::any_of(marks, [&](const char* mark) { return before.ends_with(mark); });
  };
  const bool gap = tokens[token].begin > tokens[token - 1].end;
  if (behind({"；", "："}) || (gap && behind({";", ":", "–", "—", " -"}))) return 4;
  if (behind({"，", "、"}) || (gap && behind({",", ")", "]"}))) return 3;
  if (!gap) return 0;
  return is_conjunction(word_at(text, tokens[token])) ? 2 : 1;
}

// The best place that leaves neither side of a clause with a few words only; the last of equal ones.
size_t clause_end(std::string_view text, const std::vector<Span>& tokens, size_t begin, size_t most) {
  size_t best = begin + most;
  int best_rank = 0;
  for (size_t i = begin + 1; i <= begin + most; ++i) {
    int value = rank(text, tokens, i);
    if (i - begin < most / 3) value = std::min(value, 1);
    if (value >= std::max(best_rank, 1)) best = i, best_rank = value;
  }
  return best;
}

}  // namespace

std::vector<Range> pieces_of(std::string_view text, const std::vector<Span>& tokens, const Cutting& cutting) {
  const size_t most = cutting.most > 0 ? static_cast<size_t>(cutting.most) : tokens.size();
  if (!cutting.sentences && tokens.size() <= most) return {{0, tokens.size()}};
  std::vector<Range> pieces;
  for (auto [begin, end] : sentences_of(text, tokens)) {
    const bool fits = !cutting.sentences && !pieces.empty() && end - pieces.back().first <= most;
    if (fits) begin = pieces.back().first, pieces.pop_back();
    while (end - begin > most) {
      const size_t cut = clause_end(text, tokens, begin, most);
      pieces.emplace_back(std::exchange(begin, cut), cut);
    }
    pieces.emplace_back(begin, end);
  }
  return pieces;
}

}  // namespace fovea
