#include "fovea/explain/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {

std::string svg_text(std::string_view text) {
  std::string result;
  for (char c : visible(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string svg_label(double x, double y, std::string_view text, const LabelLook& look) {
  std::string place = fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", x, y);
  if (look.turn != 0) place = fmt::format("transform=\"translate({:.1f},{:.1f}) rotate({})\"", x, y, look.turn);
  return fmt::format("<text {} font-size=\"{:g}\"{} text-anchor=\"{}\" fill=\"{}\">{}</text>\n", place, look.size,
                     look.bold ? " font-weight=\"bold\"" : "", look.anchor, look.fill, svg_text(text));
}

std::string svg_moved(double x, double y, const std::string& body, const char* name) {
  return fmt::format("<g class=\"{}\" transform=\"translate({:.1f},{:.1f})\">\n{}</g>\n", name, x, y, body);
}

std::string svg_sheet(double width, double height, const std::string& body) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\" font-family=\"system-ui, sans-serif\">\n"
             "<defs><pattern id=\"no-number\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 "
             "6L6 0\" "
             "stroke=\"#c0392b\"/></pattern><pattern id=\"masked\" width=\"5\" height=\"5\" "
             "patternUnits=\"userSpaceOnUse\"><path d=\"M0 5L5 0\" stroke=\"#d5dbe1\"/></pattern></defs>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
             std::max(1.0, std::ceil(width)), std::max(1.0, std::ceil(height))) +
         body + "</svg>\n";
}

}  // namespace fovea
