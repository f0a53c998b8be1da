// Line charts as SVG.
//
//   Chart chart = {.title = "loss", .x_label = "step", .series = {{"training", steps, losses}}};
//   write_text("loss.svg", to_svg({chart}));
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Points in the order in which they are joined; one that is not finite interrupts the line.
struct Series {
  std::string name;
  std::vector<double> x, y;
};

struct Chart {
  enum Scale { linear, logarithmic };  // on a logarithmic one, what is not positive is not drawn
  std::string title, x_label;
  std::vector<Series> series;
  Scale scale = linear;
};

std::string to_svg(const std::vector<Chart>& charts);  // two in a row

// The chart of a table in tab-separated columns: the first line names them, the first column is x, each other one a series.
// A cell may be empty. `where` names the table in errors.
Chart chart_of_table(std::string_view text, std::string_view where);

// Round numbers (1, 2 or 5 times a power of ten) from at most `low` to at least `high`, about `wanted` of them.
std::vector<double> nice_ticks(double low, double high, int wanted);

// A tick's number as short as it can be: 0.25, 3e-4, 2k, 1.5M.
std::string tick_text(double value);

}  // namespace fovea
