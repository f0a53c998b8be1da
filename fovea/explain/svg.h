// What all pictures share: the sheet, texts and their font.
//
//   std::string svg = svg_sheet(580, 320, svg_label(66, 24, title, {.size = 15, .bold = true}));
#pragma once

#include <string>
#include <string_view>

#include "fovea/explain/measure.h"

namespace fovea {

// Visible, with the characters that SVG gives a meaning replaced.
std::string svg_text(std::string_view text);

struct LabelLook {
  double size = 13;
  bool bold = false;
  const char* anchor = "start";
  const char* fill = "#1b2733";
  double turn = 0;  // degrees around its beginning
};
std::string svg_label(double x, double y, std::string_view text, const LabelLook& = {});

// Pieces with their origin at (x, y).
std::string svg_moved(double x, double y, const std::string& body, const char* name = "part");

// A white sheet with the pieces on it.
std::string svg_sheet(double width, double height, const std::string& body);

}  // namespace fovea
