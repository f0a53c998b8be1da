#include "fovea/explain/colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {

Colour colour_of(double value) {
  constexpr double stops[][3] = {{247, 251, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
  const double place = std::clamp(value, 0.0, 1.0) * 4;
  const int lower = std::min(3, static_cast<int>(place));
  auto mix = [&](int channel) {
    const double t = place - lower;
    return static_cast<int>(std::lround((1 - t) * stops[lower][channel] + t * stops[lower + 1][channel]));
  };
  return {mix(0), mix(1), mix(2)};
}

bool needs_light_text(double value) { return value > 0.55; }

std::string painted(double value, const std::string& text) {
  if (std::isnan(value)) return text;
  const Colour c = colour_of(value);
  return fmt::format("\x1b[48;2;{};{};{}m\x1b[38;5;{}m{}\x1b[0m", c.red, c.green, c.blue,
                     needs_light_text(value) ? 231 : 16, text);
}

}  // namespace fovea
