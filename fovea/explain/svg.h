// Text inside an SVG picture.
//
//   svg += fmt::format("<text>{}</text>", svg_text(title));
#pragma once

#include <string>
#include <string_view>

namespace fovea {

// With the characters that SVG gives a meaning replaced, and control characters left out.
inline std::string svg_text(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  }
  return result;
}

}  // namespace fovea
