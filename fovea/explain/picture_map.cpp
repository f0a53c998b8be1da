#include "fovea/explain/picture_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
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

// The picture as small as the terminal needs it, each pixel as bright as its part was looked at.
Image lit(const PictureMap& m, int64_t width, int64_t height) {
  Image image = resized(m.picture, width, height, Filter::bilinear);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const double light = darkest + (1 - darkest) * m.brightness(y * m.down / height, x * m.across / width);
      for (int64_t c = 0; c < image.channels; ++c)
        image.at(x, y, c) = static_cast<uint8_t>(std::lround(image.at(x, y, c) * light));
    }
  return image;
}

std::string colour_code(const Image& image, int64_t x, int64_t y, int ground) {
  const auto channel = [&](int64_t c) { return image.at(x, y, std::min(c, image.channels - 1)); };
  return fmt::format("\x1b[{};2;{};{};{}m", ground, channel(0), channel(1), channel(2));
}

std::string base64(std::string_view bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string svg_panel(const PictureMap& m, double width, double height) {
  std::string body = svg_label(0, 16, m.title, {.size = 15, .bold = true});
  body += fmt::format(
      R"(<image x="0" y="28" width="{0}" height="{1}" preserveAspectRatio="none" href="data:image/png;base64,{2}"/>)",
      width, height, base64(png_bytes(m.picture)));
  const double down = height / static_cast<double>(m.down), across = width / static_cast<double>(m.across);
  for (int64_t y = 0; y < m.down; ++y)
    for (int64_t x = 0; x < m.across; ++x)
      body += fmt::format(
          R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="#000" fill-opacity="{:.3f}"/>)",
          static_cast<double>(x) * across, 28 + static_cast<double>(y) * down, across, down,
          (1 - darkest) * (1 - m.brightness(y, x)));
  return body;
}

}  // namespace

double PictureMap::brightness(int64_t row, int64_t column) const {
  const double largest = *std::max_element(weights.begin(), weights.end());
  return largest > 0 ? std::clamp(weights[static_cast<size_t>(row * across + column)] / largest, 0.0, 1.0) : 0;
}

std::string to_terminal(const PictureMap& m, const TerminalLook& look) {
  check(m);
  std::string text = m.title.empty() ? "" : m.title + "\n";
  if (!look.colour) {
    for (int64_t y = 0; y < m.down; ++y) {
      for (int64_t x = 0; x < m.across; ++x) text += shade(m.brightness(y, x), 2, false);
      text += "\n";
    }
    return text;
  }
  const int64_t width = std::clamp<int64_t>(look.width, 1, 64);
  const int64_t height = std::clamp<int64_t>(width * m.picture.height / m.picture.width / 2, 1, 64) * 2;
  const Image image = lit(m, width, height);
  for (int64_t y = 0; y < height; y += 2) {
    for (int64_t x = 0; x < width; ++x) text += colour_code(image, x, y, 38) + colour_code(image, x, y + 1, 48) + "▀";
    text += "\x1b[0m\n";
  }
  return text;
}

Image to_image(const std::vector<PictureMap>& panels) {
  constexpr int64_t margin = 8;
  const auto edge = static_cast<int64_t>(panel), count = static_cast<int64_t>(panels.size());
  require(count > 0 && count <= 1000, "picture: found {} panels, expected 1 to 1000", count);
  Image sheet = {count * (edge + margin) + margin, edge + 2 * margin, 3, {}};
  sheet.pixels.assign(static_cast<size_t>(sheet.width * sheet.height * 3), 255);
  for (int64_t i = 0; i < count; ++i) {
    const PictureMap& m = panels[static_cast<size_t>(i)];
    check(m);
    const int64_t longer = std::max(m.picture.width, m.picture.height);
    const Image image = lit(m, std::max<int64_t>(1, edge * m.picture.width / longer),
                            std::max<int64_t>(1, edge * m.picture.height / longer));
    for (int64_t y = 0; y < image.height; ++y)
      for (int64_t x = 0; x < image.width; ++x)
        for (int64_t c = 0; c < 3; ++c)
          sheet.at(margin + i * (edge + margin) + x, margin + y, c) = image.at(x, y, std::min(c, image.channels - 1));
  }
  return sheet;
}

std::string to_svg(const std::vector<PictureMap>& panels) {
  constexpr double margin = 24;
  double x = margin, tallest = 0;
  std::string body;
  for (const PictureMap& m : panels) {
    check(m);
    const double scale = panel / static_cast<double>(std::max(m.picture.width, m.picture.height));
    const double width = static_cast<double>(m.picture.width) * scale,
                 height = static_cast<double>(m.picture.height) * scale;
    body += svg_moved(x, margin, svg_panel(m, width, height), "picture");
    x += std::max(width, 160.0) + margin, tallest = std::max(tallest, height + 28);
  }
  return svg_sheet(x, tallest + 2 * margin, body);
}

}  // namespace fovea
