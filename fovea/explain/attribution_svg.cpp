// Attributions as a picture: the words of the text, a block for each method, each word on the colour of its score.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/explain/attribution.h"
#include "fovea/explain/colours.h"
#include "fovea/explain/svg.h"

namespace fovea {
namespace {

constexpr double margin = 24, room = 720, size = 15, line = 27, gap = 4, pad = 4;
constexpr size_t most_words = 400;  // that a picture shows of a text

struct Drawn {
  std::string body;
  double height = 0, width = 0;
};

Drawn block(const Attributions& a, const Attribution& m) {
  Drawn d = {svg_label(0, 12, std::string(m.method->name), {.size = 13, .bold = true}), 20,
             Measure::font(13, true)(m.method->name)};
  if (!m.unfit.empty()) {
    const std::string why = Measure::font(13).shortened(m.unfit, room);
    d.body += svg_label(0, 34, why, {.fill = "#62686f"});
    d.height = 48, d.width = std::max(d.width, Measure::font(13)(why));
    return d;
  }
  double most = 0, x = 0, y = 20;
  for (double s : m.words) most = std::max(most, std::abs(s));
  const Measure font = Measure::font(size);
  for (size_t i = 0; i < std::min(most_words, m.words.size()); ++i) {
    const std::string word = font.shortened(piece_of(a.text.text, a.text.words[i]), room - 2 * pad);
    const double width = font(word) + 2 * pad, score = most > 0 ? m.words[i] / most : 0;
    if (x > 0 && x + width > room) x = 0, y += line;
    const Colour c = signed_colour_of(score);
    d.body += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"3\" fill=\"#{:02x}{:02x}{:02x}\">"
        "<title>{:.4f}</title></rect>\n",
        x, y, width, line - 5, c.red, c.green, c.blue, m.words[i]);
    d.body += svg_label(x + pad, y + 16, word, {.size = size, .fill = std::abs(score) > 0.6 ? "#ffffff" : "#1b2733"});
    d.width = std::max(d.width, x + width);
    x += width + gap;
  }
  d.height = y + line + 10;
  return d;
}

}  // namespace

std::string to_svg(const std::vector<Attributions>& all) {
  std::string body;
  double y = margin, widest = 0;
  const Measure bold = Measure::font(15, true);
  for (const Attributions& a : all) {
    const std::string title = bold.shortened(fmt::format("{}  {:.4f}", a.answer, a.probability), room);
    body += svg_label(margin, y + 12, title, {.size = 15, .bold = true});
    widest = std::max(widest, bold(title));
    y += 30;
    for (const Attribution& m : a.methods) {
      const Drawn d = block(a, m);
      body += svg_moved(margin, y, d.body, "method");
      y += d.height, widest = std::max(widest, d.width);
    }
    y += 14;
  }
  return svg_sheet(widest + 2 * margin, y + margin / 2, body);
}

}  // namespace fovea
