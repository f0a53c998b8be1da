#include "fovea/explain/highlight.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/explain/colours.h"

namespace fovea {
namespace {

std::string bars(const Highlight& h, double largest) {
  int width = 0;
  for (Span word : h.words) width = std::max(width, cells(piece_of(h.text, word)));
  std::string text;
  for (size_t i = 0; i < h.words.size(); ++i) {
    const std::string_view word = piece_of(h.text, h.words[i]);
    text += fmt::format("{}{}  {:.4f}  {}\n", word, std::string(static_cast<size_t>(width - cells(word)), ' '),
                        h.weights[i], bar(h.weights[i] / largest, 24));
  }
  return text;
}

}  // namespace

std::string to_terminal(const Highlight& h, const TerminalLook& look) {
  require(h.words.size() == h.weights.size(), "highlight: found {} weights, expected {} as there are words",
          h.weights.size(), h.words.size());
  double largest = h.weights.empty() ? 1 : *std::max_element(h.weights.begin(), h.weights.end());
  if (largest <= 0) largest = 1;
  if (!look.colour) return bars(h, largest);
  std::string text;
  int64_t at = 0;
  for (size_t i = 0; i < h.words.size(); ++i) {
    text += piece_of(h.text, {at, h.words[i].begin});
    text += painted(h.weights[i] / largest, std::string(piece_of(h.text, h.words[i])));
    at = h.words[i].end;
  }
  return text + h.text.substr(static_cast<size_t>(at)) + "\n";
}

HeatMap to_heat_map(const Highlight& h, std::string title) {
  HeatMap map = {.title = std::move(title), .rows = {""}, .columns = {}, .values = h.weights};
  for (Span word : h.words) map.columns.emplace_back(piece_of(h.text, word));
  return map;
}

}  // namespace fovea
