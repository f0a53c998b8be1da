#include "fovea/explain/heat_map.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/explain/colours.h"
#include "fovea/explain/svg.h"

namespace fovea {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// At most `most` cells of a text, the last one an ellipsis if something was cut off.
std::string shortened(std::string_view text, int most) {
  if (cells(text) <= most) return std::string(text);
  size_t end = 0;
  for (int taken = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && ++taken == most) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string padded(std::string_view text, int width, bool right = false) {
  std::string spaces(static_cast<size_t>(std::max(0, width - cells(text))), ' ');
  return right ? spaces + std::string(text) : std::string(text) + spaces;
}

int widest(const std::vector<std::string>& labels, int most) {
  int width = 0;
  for (const std::string& label : labels) width = std::max(width, std::min(most, cells(label)));
  return width;
}

// One panel of the SVG, with its upper left corner at (x, y).
struct Panel {
  double left, top, cell, width, height;

  explicit Panel(const HeatMap& map) {
    const double longest = static_cast<double>(std::max(map.rows.size(), map.columns.size()));
    cell = std::clamp(560 / std::max(1.0, longest), 4.0, 44.0);
    left = 14 + 7.2 * widest(map.rows, 24);
    top = 46 + 5.4 * widest(map.columns, 24);
    width = left + cell * static_cast<double>(map.columns.size()) + 30;
    height = top + cell * static_cast<double>(map.rows.size()) + 20;
  }

  std::string draw(const HeatMap& map, double x, double y) const {
    std::string svg = fmt::format(
        "<g transform=\"translate({:.1f},{:.1f})\">\n<text x=\"{:.1f}\" y=\"18\" font-weight=\"600\">{}</text>\n", x, y,
        left, svg_text(map.title));
    for (size_t c = 0; c < map.columns.size() && cell >= 9; ++c) {
      const double at = left + cell * (static_cast<double>(c) + 0.5);
      svg += fmt::format("<text transform=\"translate({:.1f},{:.1f}) rotate(-45)\">{}</text>\n", at, top - 7,
                         svg_text(shortened(map.columns[c], 24)));
    }
    for (size_t r = 0; r < map.rows.size(); ++r) {
      const double row = top + cell * static_cast<double>(r);
      if (cell >= 9) {
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 7,
                           row + cell / 2 + 4, svg_text(shortened(map.rows[r], 24)));
      }
      for (size_t c = 0; c < map.columns.size(); ++c) svg += draw_cell(map, r, c, row);
    }
    return svg + "</g>\n";
  }

  std::string draw_cell(const HeatMap& map, size_t r, size_t c, double row) const {
    const double value = map.at(r, c), x = left + cell * static_cast<double>(c);
    const Colour colour = colour_of(value);
    std::string fill =
        std::isnan(value) ? "url(#nan)" : fmt::format("rgb({},{},{})", colour.red, colour.green, colour.blue);
    std::string svg = fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{} → {}: "
        "{:.4f}</title></rect>\n",
        x, row, cell - 1, cell - 1, fill, svg_text(map.rows[r]), svg_text(map.columns[c]), value);
    if (cell >= 30) {
      svg += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"11\" fill=\"{}\">{:.2f}</text>\n",
          x + cell / 2 - 0.5, row + cell / 2 + 3.5, needs_light_text(value) ? "#ffffff" : "#1b2733", value);
    }
    return svg;
  }
};

}  // namespace

int cells(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string bar(double value, int length) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int parts = std::isnan(value) ? 0 : static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * length * 8));
  std::string result;
  for (int i = 0; i < parts / 8; ++i) result += "█";
  return result + eighths[parts % 8];
}

std::string to_terminal(const HeatMap& map, const TerminalLook& look) {
  const int labels = widest(map.rows, 20);
  const int room = std::max(8, look.width - labels - 3);
  const int column_labels = std::clamp(widest(map.columns, 12), 6, 12);
  const bool numbers = static_cast<int>(map.columns.size()) * (column_labels + 1) <= room;
  const int cell = numbers ? column_labels + 1 : 2;
  const size_t shown = std::min(map.columns.size(), static_cast<size_t>(room / cell));
  std::string text = map.title.empty() ? "" : map.title + "\n";
  if (numbers) {
    text += std::string(static_cast<size_t>(labels + 2), ' ');
    for (const std::string& column : map.columns) text += padded(shortened(column, cell - 1), cell, true);
    text += "\n";
  }
  for (size_t r = 0; r < map.rows.size(); ++r) {
    text += padded(shortened(map.rows[r], labels), labels) + "  ";
    for (size_t c = 0; c < shown; ++c) {
      const double value = map.at(r, c);
      const std::string number = numbers ? padded(fmt::format("{:.4f}", value), cell, true) : "  ";
      text += look.colour ? painted(value, number) : number;
    }
    text += "\n";
  }
  if (shown < map.columns.size())
    text += fmt::format("({} of {} columns; --svg or --json shows all)\n", shown, map.columns.size());
  return text;
}

std::string to_svg(const std::vector<HeatMap>& panels) {
  double x = 0, y = 0, row_height = 0, width = 0;
  std::string body;
  for (const HeatMap& map : panels) {
    const Panel panel(map);
    if (x > 0 && x + panel.width > 1200) x = 0, y += row_height, row_height = 0;
    body += panel.draw(map, x, y);
    x += panel.width;
    row_height = std::max(row_height, panel.height);
    width = std::max(width, x);
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\" font-family=\"system-ui, "
             "sans-serif\" font-size=\"13\" fill=\"#1b2733\">\n<defs><pattern id=\"nan\" width=\"6\" height=\"6\" "
             "patternUnits=\"userSpaceOnUse\"><path "
             "d=\"M0 6L6 0\" stroke=\"#c0392b\"/></pattern></defs>\n<rect width=\"100%\" height=\"100%\" "
             "fill=\"#ffffff\"/>\n",
             width, y + row_height) +
         body + "</svg>\n";
}

}  // namespace fovea
