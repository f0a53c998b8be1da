// A text on colours: how much each of its words counted, or what kind of thing it names.
//
//   std::fputs(to_terminal(Highlight{text, {{0, 1}, {2, 6}}, {0.1, 0.9}}, {.width = 80}).c_str(), stdout);
#pragma once

#include <string>
#include <vector>

#include "fovea/data/text/utf8.h"
#include "fovea/explain/heat_map.h"

namespace fovea {

struct Highlight {
  std::string text;
  std::vector<Span> words;
  std::vector<double> weights;  // of each word, from 0 to 1
};

// The deepest colour, and the whole bar, is the largest weight of the text. Without colours: a line for each word.
std::string to_terminal(const Highlight&, const TerminalLook&);

HeatMap to_heat_map(const Highlight&, std::string title);  // one row

struct KindSpan {
  Span span;
  std::string kind;  // PER, LOC …
};

// Each span on the colour of its kind, which stands behind it; without colours as [span](KIND). Spans do not overlap and are
// in the text's order.
std::string to_terminal(std::string_view text, const std::vector<KindSpan>&, const TerminalLook&);

}  // namespace fovea
