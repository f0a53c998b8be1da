// Matrices of weights as pictures: colours in a terminal, or SVG.
//
//   HeatMap map = {.title = "head 0", .rows = {"Die", "Katze"}, .columns = {"The", "cat"}, .values = {0.9, 0.1, 0.2, 0.8}};
//   std::fputs(to_terminal(map, {.width = 80}).c_str(), stdout);
//   write_text("map.svg", to_svg({map}));
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

// Values lie in [0, 1] and stand row by row; a NaN is drawn as such, not as a colour.
struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<double> values;

  std::vector<bool> masked = {};  // cells that could not be looked at, which have no number; empty: none
  std::string heading = {};       // what the map belongs to, above all neighbours with the same one
  std::string layer = {};         // of a head: the place of its attention
  int64_t head = -1;              // of a head: its number

  double at(size_t row, size_t column) const { return values[row * columns.size() + column]; }
  bool is_masked(size_t row, size_t column) const { return !masked.empty() && masked[row * columns.size() + column]; }
  void mask_future();  // the columns behind each row's own place
};

struct TerminalLook {
  int width = 80;      // columns of the terminal
  bool colour = true;  // 24-bit colours, on a background that may be black or white
};

// No line is wider than the terminal. A map that is wider is folded into blocks of columns, each with its headings; one that
// would need many blocks has shades instead of numbers, and turned headings.
std::string to_terminal(const HeatMap&, const TerminalLook&);

// Side by side, as many in a row as look good. Several heads of several layers that have one heading become a grid: a row for
// each layer, a column for each head, cells without numbers.
std::string to_svg(const std::vector<HeatMap>& panels);

// A bar of `length` cells for 1, in eighths of a cell.
std::string bar(double value, int length);

}  // namespace fovea
