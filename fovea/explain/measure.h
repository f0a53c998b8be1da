// How wide a text is, in cells of a terminal or in pixels of a picture, and texts that are cut or wrapped to fit.
//
//   const Measure font = Measure::font(13);   font("The bank");   font.shortened(title, 200);   font.wrapped(title, 200, 2);
//   cells("字é");                                      // 3: wide characters take two cells, marks none
//
// Any bytes will do: what is no UTF-8 and control characters are measured, and shown, as `visible` writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

// The text in one line that can be printed: tabs and line breaks as spaces, other control characters and bytes that are no
// UTF-8 as U+FFFD.
std::string visible(std::string_view text);

// Its characters, each with the marks that follow it.
std::vector<std::string> with_marks(std::string_view text);

class Measure final {
 public:
  static Measure cells() { return Measure(0, false); }
  // By the widths of DejaVu Sans, which is wider than most that a browser takes for sans-serif.
  static Measure font(double size, bool bold = false) { return Measure(size, bold); }

  double operator()(std::string_view text) const;
  double widest(const std::vector<std::string>& texts) const;

  // At most so wide, with an ellipsis if something was cut off; visible.
  std::string shortened(std::string_view text, double most) const;
  // Lines broken at spaces (or inside of words that are longer than a line), the last one shortened; at least one.
  std::vector<std::string> wrapped(std::string_view text, double most, size_t lines) const;

 private:
  Measure(double size, bool bold) : size_(size), bold_(bold) {}
  double width(char32_t) const;
  Span line_of(std::string_view text, double most) const;  // as much of the beginning as fits

  double size_;
  bool bold_;
};

int cells(std::string_view text);

// With spaces behind it, or before it, up to so many cells.
std::string padded(std::string_view text, int width, bool right = false);

}  // namespace fovea
