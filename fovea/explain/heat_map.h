// A matrix of weights as a picture: colours in a terminal, or SVG.
//
//   HeatMap map = {.title = "head 0", .rows = {"Die", "Katze"}, .columns = {"The", "cat"}, .values = {0.9, 0.1, 0.2, 0.8}};
//   std::fputs(to_terminal(map, {.width = 80}).c_str(), stdout);
//   write_text("map.svg", to_svg({map}));
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

// Values lie in [0, 1] and stand row by row; a NaN is drawn as such, not as a colour.
struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<double> values;

  double at(size_t row, size_t column) const { return values[row * columns.size() + column]; }
};

struct TerminalLook {
  int width = 80;      // columns of the terminal; maps that are wider lose their numbers, then their last columns
  bool colour = true;  // 24-bit colours behind the numbers
};

std::string to_terminal(const HeatMap&, const TerminalLook&);
std::string to_svg(const std::vector<HeatMap>& panels);  // side by side, as many in a row as look good

// A bar of `length` cells for 1, in eighths of a cell.
std::string bar(double value, int length);

// How many cells of a terminal a text takes: characters, not bytes.
int cells(std::string_view text);

}  // namespace fovea
