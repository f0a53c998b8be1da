#include "fovea/explain/picture_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/base64.h"
#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"
#include "fovea/explain/colours.h"
#include "fovea/explain/svg.h"

namespace fovea {
namespace {

constexpr double darkest = 0.25;  // what is left of the light where nobody looked
constexpr double panel = 320;     // pixels of the longer edge of a picture

void check(const PictureMap& m) {
  require(m.down > 0 && m.across > 0 && m.weights.size() == static_cast<size_t>(m.down * m.across),
          "picture: found {} weights for {} × {} parts", m.weights.size(), m.down, m.across);
}

// On a dark picture the dark says nothing: there what was looked at is coloured.
constexpr Colour warm = {255, 122, 24};
constexpr double warmest = 0.82;

bool is_dark(const Image& p) {
  return std::accumulate(p.pixels.begin(), p.pixels.end(), 0.0) < 0.4 * 255 * static_cast<double>(p.pixels.size());
}

Image in_colours(const Image& p) {
  Image image = {p.width, p.height, 3, {}};
  for (int64_t i = 0; i < p.width * p.height * 3; ++i)
    image.pixels.push_back(p.pixels[static_cast<size_t>(p.channels == 3 ? i : i / 3)]);
  return image;
}

// The picture as small as the terminal needs it, each pixel as bright, or as warm, as its part was looked at.
Image lit(const PictureMap& m, int64_t width, int64_t height) {
  Image image = in_colours(resized(m.picture, width, height, Filter::bilinear));
  const bool dark = is_dark(m.picture);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const double looked = m.brightness(y * m.down / height, x * m.across / width);
      const double left = dark ? 1 - warmest * looked : darkest + (1 - darkest) * looked;
      const double added[] = {(1 - left) * warm.red, (1 - left) * warm.green, (1 - left) * warm.blue};
      for (int64_t c = 0; c < 3; ++c)
        image.at(x, y, c) = static_cast<uint8_t>(std::lround(image.at(x, y, c) * left + (dark ? added[c] : 0)));
    }
  return image;
}

std::string colour_code(const Image& image, int64_t x, int64_t y, int ground) {
  const auto channel = [&](int64_t c) { return image.at(x, y, c); };
  return fmt::format("\x1b[{};2;{};{};{}m", ground, channel(0), channel(1), channel(2));
}

std::string svg_panel(const PictureMap& m, double width, double height) {
  std::string body = svg_label(0, 16, m.title, {.size = 15, .bold = true});
  body += fmt::format(
      R"(<image x="0" y="28" width="{0}" height="{1}" preserveAspectRatio="none" href="data:image/png;base64,{2}"/>)",
      width, height, base64(png_bytes(m.picture)));
  const bool dark = is_dark(m.picture);
  const std::string fill = dark ? fmt::format("#{:02x}{:02x}{:02x}", warm.red, warm.green, warm.blue) : "#000";
  const double down = height / static_cast<double>(m.down), across = width / static_cast<double>(m.across);
  for (int64_t y = 0; y < m.down; ++y)
    for (int64_t x = 0; x < m.across; ++x)
      body +=
          fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}" fill-opacity="{:.3f}"/>)",
                      static_cast<double>(x) * across, 28 + static_cast<double>(y) * down, across, down, fill,
                      dark ? warmest * m.brightness(y, x) : (1 - darkest) * (1 - m.brightness(y, x)));
  return body;
}

}  // namespace

double PictureMap::brightness(int64_t row, int64_t column) const {
  const double largest = *std::max_element(weights.begin(), weights.end());
  return largest > 0 ? std::clamp(weights[static_cast<size_t>(row * across + column)] / largest, 0.0, 1.0) : 0;
}

namespace {

// The lines of a picture, all of so many columns: `width` with colours, two for each part without.
std::vector<std::string> terminal_lines(const PictureMap& m, int64_t width, bool colour) {
  check(m);
  std::vector<std::string> lines;
  if (!colour) {
    for (int64_t y = 0; y < m.down; ++y) {
      lines.emplace_back();
      for (int64_t x = 0; x < m.across; ++x) lines.back() += shade(m.brightness(y, x), 2, false);
    }
    return lines;
  }
  const int64_t height = std::clamp<int64_t>(width * m.picture.height / m.picture.width / 2, 1, 64) * 2;
  const Image image = lit(m, width, height);
  for (int64_t y = 0; y < height; y += 2) {
    lines.emplace_back();
    for (int64_t x = 0; x < width; ++x)
      lines.back() += colour_code(image, x, y, 38) + colour_code(image, x, y + 1, 48) + "▀";
    lines.back() += "\x1b[0m";
  }
  return lines;
}

// Rows of panels, of so many each.
std::string svg_rows(const std::vector<PictureMap>& panels, double size, double least, size_t in_a_row) {
  constexpr double margin = 24;
  double x = margin, y = margin, widest = 0, tallest = 0;
  std::string body;
  for (size_t i = 0; i < panels.size(); ++i) {
    const PictureMap& m = panels[i];
    check(m);
    if (i > 0 && i % in_a_row == 0) y += tallest + margin, x = margin, tallest = 0;
    const double scale = size / static_cast<double>(std::max(m.picture.width, m.picture.height));
    const double width = static_cast<double>(m.picture.width) * scale,
                 height = static_cast<double>(m.picture.height) * scale;
    body += svg_moved(x, y, svg_panel(m, width, height), "picture");
    x += std::max(width, least) + margin, tallest = std::max(tallest, height + 28), widest = std::max(widest, x);
  }
  return svg_sheet(widest, y + tallest + margin, body);
}

}  // namespace

std::string to_terminal(const PictureMap& m, const TerminalLook& look) {
  std::string text = m.title.empty() ? "" : m.title + "\n";
  for (const std::string& line : terminal_lines(m, std::clamp<int64_t>(look.width, 1, 64), look.colour))
    text += line + "\n";
  return text;
}

std::string to_terminal(const std::vector<PictureMap>& panels, const TerminalLook& look) {
  constexpr int64_t small = 22, gap = 2;
  std::string text;
  for (size_t begin = 0, end = 0; begin < panels.size(); begin = end) {
    std::string titles;
    std::vector<std::string> lines;
    int64_t used = 0;
    for (; end < panels.size(); ++end) {
      const PictureMap& m = panels[end];
      const int64_t width = look.colour ? small : 2 * m.across;
      if (end > begin && used + width > look.width) break;
      const std::vector<std::string> own = terminal_lines(m, width, look.colour);
      const std::string before(static_cast<size_t>(end > begin ? gap : 0), ' ');
      const size_t title = code_points(m.title).size(), room = static_cast<size_t>(width);
      titles += before + m.title + std::string(title < room ? room - title : 0, ' ');
      lines.resize(std::max(lines.size(), own.size()), std::string(static_cast<size_t>(used), ' '));
      for (size_t i = 0; i < lines.size(); ++i) lines[i] += before + (i < own.size() ? own[i] : std::string(room, ' '));
      used += width + gap;
    }
    text += titles.substr(0, titles.find_last_not_of(' ') + 1) + "\n";
    for (const std::string& line : lines) text += line + "\n";
  }
  return text;
}

std::string to_svg(const std::vector<PictureMap>& panels) { return svg_rows(panels, panel, 160, panels.size()); }

std::string to_small_svg(const std::vector<PictureMap>& panels, size_t in_a_row) {
  require(in_a_row > 0, "picture: found rows of no panels");
  return svg_rows(panels, 160, 160, in_a_row);
}

}  // namespace fovea
