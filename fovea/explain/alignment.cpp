#include "fovea/explain/alignment.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::vector<std::string> texts_of(std::string_view text, const std::vector<Span>& words) {
  std::vector<std::string> texts;
  for (Span word : words) texts.emplace_back(piece_of(text, word));
  return texts;
}

// A model that writes bytes may have been stopped inside a character.
std::vector<CodePoint> code_points_or_bytes(std::string_view text) {
  if (invalid_utf8(text) == std::string_view::npos) return code_points(text);
  std::vector<CodePoint> bytes;
  for (int64_t i = 0; i < static_cast<int64_t>(text.size()); ++i) {
    const auto byte = static_cast<unsigned char>(text[static_cast<size_t>(i)]);
    bytes.push_back({byte < 0x80 ? char32_t{byte} : U'\uFFFD', {i, i + 1}});
  }
  return bytes;
}

}  // namespace

std::vector<Span> words_of(std::string_view text) {
  std::vector<Span> words;
  bool inside = false;
  for (const CodePoint& c : code_points_or_bytes(text)) {
    const bool space = is_space(c.value);
    if (!space && !inside) words.push_back(c.span);
    if (!space) words.back().end = c.span.end;
    inside = !space;
  }
  return words;
}

std::vector<int64_t> words_of_tokens(const TextTokens& side) {
  const std::vector<Span> words = words_of(side.text);
  std::vector<int64_t> numbers;
  for (Span token : side.tokens) {
    const auto word = std::partition_point(words.begin(), words.end(), [&](Span w) { return w.end <= token.begin; });
    // A token without bytes stands at the beginning of its word; one with bytes may begin in the white space before it.
    const bool belongs = word != words.end() && (token.begin >= word->begin || token.end > word->begin);
    numbers.push_back(belongs ? word - words.begin() : -1);
  }
  return numbers;
}

WordWeights by_words(const TextTokens& looking, const TextTokens& looked_at, const Tensor& weights) {
  require(weights.rank() == 2 && weights.size(0) == static_cast<int64_t>(looking.tokens.size()) &&
              weights.size(1) == static_cast<int64_t>(looked_at.tokens.size()),
          "by_words: found weights {}, expected [{}, {}] as there are tokens", weights.shape().text(),
          looking.tokens.size(), looked_at.tokens.size());
  WordWeights result = {
      texts_of(looking.text, words_of(looking.text)), texts_of(looked_at.text, words_of(looked_at.text)), {}};
  result.weights.resize(result.rows.size() * result.columns.size());
  const std::vector<int64_t> rows = words_of_tokens(looking), columns = words_of_tokens(looked_at);
  const std::vector<double> values = weights.values<double>();
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto tokens = static_cast<double>(std::count(rows.begin(), rows.end(), rows[i]));
    for (size_t j = 0; j < columns.size(); ++j) {
      if (rows[i] < 0 || columns[j] < 0) continue;
      const size_t at = static_cast<size_t>(rows[i]) * result.columns.size() + static_cast<size_t>(columns[j]);
      result.weights[at] += values[i * columns.size() + j] / tokens;
    }
  }
  return result;
}

std::vector<double> by_words(const TextTokens& side, const std::vector<double>& weights) {
  require(weights.size() == side.tokens.size(), "by_words: found {} weights, expected {} as there are tokens",
          weights.size(), side.tokens.size());
  std::vector<double> result(words_of(side.text).size());
  const std::vector<int64_t> words = words_of_tokens(side);
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] >= 0) result[static_cast<size_t>(words[i])] += weights[i];
  return result;
}

Alignment hard_alignment(const WordWeights& w) {
  Alignment links;
  for (size_t row = 0; row < w.rows.size() && !w.columns.empty(); ++row) {
    const auto first = w.weights.begin() + static_cast<std::ptrdiff_t>(row * w.columns.size());
    const auto largest = std::max_element(first, first + static_cast<std::ptrdiff_t>(w.columns.size()));
    if (*largest > 0) links.insert({.source = largest - first, .target = static_cast<int64_t>(row)});
  }
  return links;
}

std::string to_pharaoh(const Alignment& alignment) {
  std::vector<Link> links(alignment.begin(), alignment.end());
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.target < b.target; });
  std::string text;
  for (const Link& link : links) text += fmt::format("{}{}-{}", text.empty() ? "" : " ", link.source, link.target);
  return text;
}

std::string soft_alignment(const WordWeights& w, double least) {
  std::string text;
  for (size_t row = 0; row < w.rows.size(); ++row)
    for (size_t column = 0; column < w.columns.size(); ++column)
      if (const double weight = w.at(row, column); weight >= least)
        text += fmt::format("{}{}-{}:{:.2f}", text.empty() ? "" : " ", column, row, weight);
  return text;
}

HeatMap to_heat_map(const WordWeights& w, std::string title) {
  return {std::move(title), w.rows, w.columns, w.weights};
}

}  // namespace fovea
