#include "fovea/explain/colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace fovea {
namespace {

constexpr Colour quiet = {118, 118, 118};  // as far from black as from white

Colour mixed(std::span<const Colour> stops, double value) {
  const double place = (value > 0 ? std::min(value, 1.0) : 0) * static_cast<double>(stops.size() - 1);  // NaN is 0
  const size_t lower = std::min(stops.size() - 2, static_cast<size_t>(place));
  const double t = place - static_cast<double>(lower);
  auto mix = [&](int Colour::*channel) {
    return static_cast<int>(std::lround((1 - t) * stops[lower].*channel + t * stops[lower + 1].*channel));
  };
  return {mix(&Colour::red), mix(&Colour::green), mix(&Colour::blue)};
}

std::string in_colour(Colour c, const std::string& text) {
  return fmt::format("\x1b[38;2;{};{};{}m{}\x1b[0m", c.red, c.green, c.blue, text);
}

std::string on_colour(Colour c, const std::string& text) {
  return fmt::format("\x1b[48;2;{};{};{}m\x1b[1;38;5;231m{}\x1b[0m", c.red, c.green, c.blue, text);
}

Colour colour_of_kind(std::string_view kind) {
  constexpr std::pair<std::string_view, Colour> known[] = {
      {"PER", {0, 110, 190}}, {"LOC", {20, 125, 60}}, {"ORG", {190, 80, 10}}, {"MISC", {140, 80, 180}}};
  for (const auto& [name, colour] : known)
    if (kind == name) return colour;
  constexpr Colour others[] = {{0, 125, 125}, {200, 45, 90}, {130, 105, 0}, {110, 110, 110}};
  return others[std::accumulate(kind.begin(), kind.end(), size_t{0},
                                [](size_t sum, char c) { return 31 * sum + static_cast<unsigned char>(c); }) %
                std::size(others)];
}

}  // namespace

Colour colour_of(double value) {
  constexpr Colour stops[] = {{247, 251, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
  return mixed(stops, value);
}

bool needs_light_text(double value) { return value > 0.66; }

Colour terminal_colour_of(double value) {
  constexpr Colour stops[] = {{104, 112, 150}, {120, 104, 170}, {139, 92, 190}, {172, 66, 168},
                              {205, 50, 122},  {214, 48, 70},   {222, 54, 14}};
  return mixed(stops, value);
}

std::string painted(double value, const std::string& text) {
  if (value < 0.02) return in_colour(quiet, text);
  return value >= 0.15 ? on_colour(terminal_colour_of(value), text) : text;
}

Colour signed_colour_of(double value) {
  constexpr Colour stops[] = {{0, 114, 178}, {255, 255, 255}, {213, 94, 0}};
  return mixed(stops, (value + 1) / 2);
}

std::string painted_signed(double value, const std::string& text) {
  if (value >= 0) return painted(value, text);
  constexpr Colour stops[] = {{92, 118, 146}, {0, 108, 186}};
  return value <= -0.15 ? on_colour(mixed(stops, -value), text) : value > -0.02 ? in_colour(quiet, text) : text;
}

std::string shade(double value, int width, bool colour) {
  constexpr const char* steps[] = {"░", "▒", "▓", "█"};
  if (!(value >= 0.05)) return std::string(static_cast<size_t>(width), ' ');
  std::string text;
  for (int i = 0; i < width; ++i) text += steps[std::min<size_t>(3, static_cast<size_t>(value * 4))];
  return colour ? in_colour(terminal_colour_of(value), text) : text;
}

std::string painted_kind(std::string_view kind, const std::string& text) {
  return on_colour(colour_of_kind(kind), text);
}

std::string coloured_kind(std::string_view kind) { return in_colour(colour_of_kind(kind), std::string(kind)); }

}  // namespace fovea
