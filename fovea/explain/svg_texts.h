// For tests: the texts of a picture with the boxes that they take, found again in its SVG.
//
//   for (const SvgText& t : svg_texts(svg)) EXPECT_TRUE(t.inside(svg_size(svg))) << t.text;
#pragma once

#include <cmath>
#include <cstdio>
#include <regex>
#include <string>
#include <vector>

#include "fovea/explain/measure.h"

namespace fovea {

struct SvgBox {
  double left, top, right, bottom;
  bool meets(const SvgBox& o) const { return left < o.right && o.left < right && top < o.bottom && o.top < bottom; }
  bool holds(const SvgBox& o) const { return o.left >= left && o.right <= right && o.top >= top && o.bottom <= bottom; }
};

struct SvgText {
  std::string text;
  SvgBox box;
  bool bold;
};

// Where things are drawn while an SVG is read from its beginning: the sum of the groups around them.
class SvgGroups {
 public:
  // A line of the SVG; true if it opened or closed a group.
  bool read(const std::string& line) {
    double x = 0, y = 0;
    const size_t at = line.find("translate(");
    if (line.starts_with("<g ") && at != std::string::npos &&
        std::sscanf(line.c_str() + at, "translate(%lf,%lf)", &x, &y) == 2) {
      moves_.emplace_back(x, y);
      return true;
    }
    if (line.starts_with("</g>")) return moves_.pop_back(), true;
    return false;
  }
  double x() const { return sum().first; }
  double y() const { return sum().second; }

 private:
  std::pair<double, double> sum() const {
    std::pair<double, double> all = {0, 0};
    for (const auto& [x, y] : moves_) all.first += x, all.second += y;
    return all;
  }
  std::vector<std::pair<double, double>> moves_;
};

inline std::vector<std::string> svg_lines(const std::string& svg) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = svg.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(svg.substr(begin, end - begin));
  return lines;
}

inline SvgBox svg_size(const std::string& svg) {
  SvgBox box = {0, 0, 0, 0};
  const size_t at = svg.find("viewBox=\"");
  if (at != std::string::npos) std::sscanf(svg.c_str() + at, "viewBox=\"0 0 %lf %lf", &box.right, &box.bottom);
  return box;
}

inline std::string unescaped(std::string text) {
  for (const auto& [code, plain] :
       {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&quot;", "\""}, std::pair{"&amp;", "&"}})
    for (size_t at = 0; (at = text.find(code, at)) != std::string::npos; ++at)
      text.replace(at, std::string(code).size(), plain);
  return text;
}

// Of each text the box of its letters, from a quarter of the size below the line to three quarters above; turned ones
// (by −45 degrees) with the box around them.
inline std::vector<SvgText> svg_texts(const std::string& svg) {
  static const std::regex form(
      "<text (?:x=\"([-0-9.]+)\" y=\"([-0-9.]+)\"|transform=\"translate\\(([-0-9.]+),([-0-9.]+)\\) rotate\\(-45\\)\") "
      "font-size=\"([0-9.]+)\"( font-weight=\"bold\")? text-anchor=\"(\\w+)\"[^>]*>(.*)</text>");
  std::vector<SvgText> texts;
  SvgGroups groups;
  for (const std::string& line : svg_lines(svg)) {
    std::smatch m;
    if (groups.read(line) || !std::regex_search(line, m, form)) continue;
    const bool turned = m[3].matched, bold = m[6].matched;
    const double x = groups.x() + std::stod(m[turned ? 3 : 1]), y = groups.y() + std::stod(m[turned ? 4 : 2]);
    const double size = std::stod(m[5]);
    const std::string text = unescaped(m[8]);
    const double width = Measure::font(size, bold)(text);
    const double before = m[7] == "end" ? width : m[7] == "middle" ? width / 2 : 0;
    SvgBox box = {x - before, y - 0.75 * size, x - before + width, y + 0.25 * size};
    if (turned) {
      const double s = std::sqrt(0.5);
      box = {x - 0.75 * size * s, y - (width + 0.75 * size) * s, x + (width + 0.25 * size) * s, y + 0.25 * size * s};
    }
    texts.push_back({text, box, bold});
  }
  return texts;
}

}  // namespace fovea
