#include "fovea/explain/highlight.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/explain/colours.h"
#include "fovea/explain/measure.h"

namespace fovea {
namespace {

std::string bars(const Highlight& h, double largest, const TerminalLook& look) {
  std::vector<std::string> words;
  for (Span word : h.words) words.emplace_back(piece_of(h.text, word));
  const int width = std::min(static_cast<int>(Measure::cells().widest(words)), std::max(4, look.width - 10));
  const int length = std::clamp(look.width - width - 10, 0, 24);
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}  {:.4f}  {}\n", padded(Measure::cells().shortened(words[i], width), width), h.weights[i],
                        bar(h.weights[i] / largest, length));
  return text;
}

}  // namespace

std::string to_terminal(const Highlight& h, const TerminalLook& look) {
  require(h.words.size() == h.weights.size(), "highlight: found {} weights, expected {} as there are words",
          h.weights.size(), h.words.size());
  double largest = h.weights.empty() ? 1 : *std::max_element(h.weights.begin(), h.weights.end());
  if (largest <= 0) largest = 1;
  if (!look.colour) return bars(h, largest, look);
  std::string text;
  int64_t at = 0;
  for (size_t i = 0; i < h.words.size(); ++i) {
    text += piece_of(h.text, {at, h.words[i].begin});
    text += painted(h.weights[i] / largest, std::string(piece_of(h.text, h.words[i])));
    at = h.words[i].end;
  }
  return text + h.text.substr(static_cast<size_t>(at)) + "\n";
}

std::string to_terminal(std::string_view text, const std::vector<KindSpan>& spans, const TerminalLook& look) {
  std::string result;
  int64_t at = 0;
  for (const auto& [span, kind] : spans) {
    const std::string piece(piece_of(text, span));
    result += piece_of(text, {at, span.begin});
    result +=
        look.colour ? painted_kind(kind, piece) + " " + coloured_kind(kind) : fmt::format("[{}]({})", piece, kind);
    at = span.end;
  }
  return result + std::string(text.substr(static_cast<size_t>(at)));
}

HeatMap to_heat_map(const Highlight& h, std::string title) {
  HeatMap map = {.title = std::move(title), .rows = {""}, .columns = {}, .values = h.weights};
  for (Span word : h.words) map.columns.emplace_back(piece_of(h.text, word));
  return map;
}

}  // namespace fovea
