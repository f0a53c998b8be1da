#include "fovea/explain/chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"
#include "fovea/explain/svg.h"
#include "fovea/formats/matrix_text.h"

namespace fovea {
namespace {

constexpr double panel_width = 580;
constexpr double left = 66, right = 22, top = 46,
                 bottom = 50;  // around the plot; a legend stands in further lines on top
constexpr double plot_width = panel_width - left - right, plot_height = 224;
constexpr double legend_line = 20;

// Told apart by lightness too, for prints and for eyes that confuse red and green; by their dashes and marks where they
// coincide: earlier lines are thicker, so that they are seen below later ones.
struct Pen {
  const char *colour, *dashes, *mark;
  double width;
};

bool is_marked(const Series& series) { return series.x.size() <= 40; }

Pen pen_of(const Chart& chart, size_t series) {
  constexpr Pen pens[] = {{"#2171b5", "none", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", 3.6},
                          {"#e07b00", "9 5", "M-4 -4h8v8h-8Z", 3.1},
                          {"#1b7f4b", "3 4", "M0 -5L5 4H-5Z", 2.6},
                          {"#7a5195", "10 4 2 4", "M0 -5.5L5.5 0L0 5.5L-5.5 0Z", 2.2},
                          {"#c0392b", "6 3 1 3 1 3", "M-4 -4L4 4M-4 4L4 -4", 1.9},
                          {"#53616e", "1 3", "M0 -5V5M-5 0H5", 1.6}};
  Pen pen = pens[series % std::size(pens)];
  if (!is_marked(chart.series[series])) pen.width *= 0.6;  // many points: fine lines, without marks
  return pen;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  bool is_empty() const { return low > high; }
  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
};

// Where a chart's numbers go on its panel.
class Axes {
 public:
  explicit Axes(const Chart& chart) : logarithmic_(chart.scale == Chart::logarithmic) {
    for (const Series& s : chart.series) {
      for (size_t i = 0; i < s.x.size(); ++i) {
        if (is_drawn(s.x[i], s.y[i])) x_.add(s.x[i]), y_.add(s.y[i]);
      }
    }
    if (x_.is_empty()) x_ = {0, 1}, y_ = logarithmic_ ? Range{0.1, 1} : Range{0, 1};
    if (x_.low == x_.high) x_.low -= 1, x_.high += 1;
    if (x_.low > 0 && x_.low < 0.3 * x_.high) x_.low = 0;
    logarithmic_ ? choose_powers() : choose_numbers();
  }

  bool is_drawn(double x, double y) const { return std::isfinite(x) && std::isfinite(y) && (!logarithmic_ || y > 0); }
  double x(double value) const { return left + plot_width * (value - x_.low) / (x_.high - x_.low); }
  double y(double value) const {
    const double v = place(value), low = place(y_.low), high = place(y_.high);
    return top + plot_height * (high - v) / (high - low);
  }
  std::vector<double> x_ticks() const {
    std::vector<double> ticks = nice_ticks(x_.low, x_.high, 6);
    std::erase_if(ticks, [&](double t) { return t < x_.low || t > x_.high; });
    return ticks;
  }
  const std::vector<double>& y_ticks() const { return y_ticks_; }

 private:
  double place(double value) const { return logarithmic_ ? std::log10(value) : value; }

  void choose_numbers() {
    if (y_.low == y_.high) {
      const double room = y_.low == 0 ? 1 : 0.1 * std::abs(y_.low);
      y_.low -= room, y_.high += room;
    }
    if (y_.low > 0 && y_.low < 0.3 * y_.high) y_.low = 0;
    y_ticks_ = nice_ticks(y_.low, y_.high, 5);
    y_ = {y_ticks_.front(), y_ticks_.back()};
  }

  void choose_powers() {
    const bool wide = y_.high / y_.low > 200;
    std::vector<double> all;
    for (int power = static_cast<int>(std::floor(std::log10(y_.low))); std::pow(10, power) <= y_.high * 10; ++power) {
      for (double factor : {1.0, 2.0, 5.0}) {
        if (factor == 1 || !wide) all.push_back(factor * std::pow(10, power));
      }
    }
    auto first = std::upper_bound(all.begin(), all.end(), y_.low * (1 + 1e-9));
    auto last = std::lower_bound(all.begin(), all.end(), y_.high * (1 - 1e-9));
    if (first != all.begin()) --first;
    if (last == first) ++last;
    y_ticks_.assign(first, last + 1);
    y_ = {y_ticks_.front(), y_ticks_.back()};
  }

  bool logarithmic_;
  Range x_, y_;
  std::vector<double> y_ticks_;
};

struct Point {
  double x, y;
};

// More points than pixels would only make the file large: of each group the lowest and the highest stay.
std::vector<Point> thinned(std::vector<Point> points) {
  constexpr size_t most = 600;
  if (points.size() <= 2 * most) return points;
  std::vector<Point> kept;
  const size_t group = (points.size() + most - 1) / most;
  for (size_t i = 0; i < points.size(); i += group) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(std::min(i + group, points.size()));
    auto [low, high] = std::minmax_element(begin, end, [](const Point& a, const Point& b) { return a.y < b.y; });
    if (low > high) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  return kept;
}

std::string draw_line(const std::vector<Point>& points, const Pen& pen) {
  if (points.size() < 2) return {};
  std::string path;
  for (const Point& p : thinned(points)) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", p.x, p.y);
  return fmt::format(
      "<path class=\"line\" d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\" stroke-dasharray=\"{}\" "
      "stroke-linejoin=\"round\"/>\n",
      path, pen.colour, pen.width, pen.dashes);
}

std::string draw_mark(Point at, const Pen& pen, const std::string& name) {
  return fmt::format(
      "<path class=\"mark\" transform=\"translate({:.1f},{:.1f})\" d=\"{}\" fill=\"none\" stroke=\"{}\" "
      "stroke-width=\"1.6\">{}</path>\n",
      at.x, at.y, pen.mark, pen.colour, name.empty() ? "" : "<title>" + svg_text(name) + "</title>");
}

std::string draw_series(const Series& series, const Axes& axes, const Pen& pen) {
  std::string lines, marks;
  std::vector<Point> run;
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!axes.is_drawn(series.x[i], series.y[i])) {
      lines += draw_line(run, pen);
      run.clear();
      continue;
    }
    run.push_back({axes.x(series.x[i]), axes.y(series.y[i])});
    if (is_marked(series))
      marks += draw_mark(run.back(), pen, fmt::format("{} at {}: {:.6g}", series.name, series.x[i], series.y[i]));
  }
  return lines + draw_line(run, pen) + marks;
}

std::string draw_axes(const Chart& chart, const Axes& axes) {
  std::string svg;
  const char* grey = "#53616e";
  for (double tick : axes.y_ticks())
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#e3e8ee\"/>\n", left, axes.y(tick), left + plot_width) +
           svg_label(left - 9, axes.y(tick) + 4, tick_text(tick), {.anchor = "end", .fill = grey});
  const double floor = top + plot_height;
  for (double tick : axes.x_ticks())
    svg += fmt::format("<path d=\"M{:.1f} {}v5\" stroke=\"#9aa7b4\"/>\n", axes.x(tick), floor) +
           svg_label(axes.x(tick), floor + 19, tick_text(tick), {.anchor = "middle", .fill = grey});
  svg += fmt::format("<path d=\"M{} {}H{}\" stroke=\"#9aa7b4\"/>\n", left, floor, left + plot_width);
  return svg + svg_label(left + plot_width / 2, floor + 39, Measure::font(13).shortened(chart.x_label, plot_width),
                         {.anchor = "middle", .fill = grey});
}

// A chart's title and legend, above its plot: where they cover no curve.
struct Head {
  std::string svg;
  double height = 0;  // beyond the one line of a title that the plot leaves free
};

Head draw_head(const Chart& chart) {
  const LabelLook look = {.size = 15, .bold = true};
  Head head;
  double y = 24;
  const std::vector<std::string> title = Measure::font(look.size, true).wrapped(chart.title, plot_width, 3);
  for (size_t i = 0; i < title.size(); ++i)
    head.svg += svg_label(left, y + legend_line * static_cast<double>(i), title[i], look);
  y += legend_line * static_cast<double>(title.size() - 1);
  if (chart.series.size() > 1) {
    const Measure measure = Measure::font(13);
    double x = left;
    y += legend_line + 2;
    for (size_t i = 0; i < chart.series.size(); ++i) {
      const std::string name = measure.shortened(chart.series[i].name, plot_width - 38);
      if (x > left && x + 38 + measure(name) > left + plot_width) x = left, y += legend_line;
      const Pen pen = pen_of(chart, i);
      head.svg += fmt::format(
          "<path class=\"legend\" d=\"M{:.1f} {:.1f}h30\" stroke=\"{}\" stroke-width=\"{:.1f}\" "
          "stroke-dasharray=\"{}\"/>\n",
          x, y - 4, pen.colour, pen.width, pen.dashes);
      if (is_marked(chart.series[i])) head.svg += draw_mark({x + 15, y - 4}, pen, "");
      head.svg += svg_label(x + 38, y, name);
      x += 38 + measure(name) + 14;
    }
    y += 6;
  }
  head.height = y - 24;
  return head;
}

std::string draw_plot(const Chart& chart) {
  const Axes axes(chart);
  std::string svg = draw_axes(chart, axes);
  for (size_t i = 0; i < chart.series.size(); ++i) svg += draw_series(chart.series[i], axes, pen_of(chart, i));
  return svg;
}

double number_of(const std::string& cell, const std::string& where) {
  double value = 0;
  const auto [end, failure] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  require(failure == std::errc() && end == cell.data() + cell.size() && std::isfinite(value),
          "{}: found '{}', expected a number", where, cell);
  return value;
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int wanted) {
  const double rough = (high - low) / std::max(1, wanted);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  const double step = power * (share <= 1.5 ? 1 : share <= 3.5 ? 2 : share <= 7.5 ? 5 : 10);
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  for (double i = first; i <= last; ++i) ticks.push_back(i * step);
  return ticks;
}

std::string tick_text(double value) {
  if (std::abs(value) < 1e-300) return "0";
  const double size = std::abs(value);
  if (size >= 1e9 || size < 9.99e-4) {
    const int power = static_cast<int>(std::floor(std::log10(size) + 1e-9));
    return fmt::format("{:.3g}e{}", value / std::pow(10, power), power);
  }
  if (size >= 1e6) return fmt::format("{:.6g}M", value / 1e6);
  if (size >= 1e3) return fmt::format("{:.6g}k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

std::string to_svg(const std::vector<Chart>& charts) {
  std::string body;
  double y = 0;
  for (size_t i = 0; i < charts.size(); ++i) {
    for (const Series& s : charts[i].series) {
      require(s.x.size() == s.y.size(), "chart '{}': series '{}': found {} x and {} y, expected as many",
              charts[i].title, s.name, s.x.size(), s.y.size());
    }
  }
  for (size_t i = 0; i < charts.size(); i += 2) {
    const size_t end = std::min(i + 2, charts.size());
    std::vector<Head> heads;
    double height = 0;
    for (size_t k = i; k < end; ++k) {
      heads.push_back(draw_head(charts[k]));
      height = std::max(height, heads.back().height);
    }
    for (size_t k = i; k < end; ++k) {
      const double x = panel_width * static_cast<double>(k - i);
      body += svg_moved(x, y, heads[k - i].svg) + svg_moved(x, y + height, draw_plot(charts[k]), "plot");
    }
    y += top + height + plot_height + bottom;
  }
  return svg_sheet(panel_width * (charts.size() > 1 ? 2 : 1), std::max(y, top + plot_height + bottom), body);
}

Chart chart_of_table(std::string_view text, std::string_view where) {
  Chart chart;
  size_t number = 0;
  for (const std::string& line : split_text(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells =
        split_text(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line, '\t');
    if (chart.series.empty()) {
      require(cells.size() > 1, "{}:{}: found one column, expected names of x and of one series or more", where,
              number);
      chart.x_label = cells[0];
      for (size_t i = 1; i < cells.size(); ++i) chart.series.push_back({cells[i], {}, {}});
      continue;
    }
    require(cells.size() == chart.series.size() + 1, "{}:{}: found {} columns, expected {} as in the first line", where,
            number, cells.size(), chart.series.size() + 1);
    for (size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      const std::string at = fmt::format("{}:{}", where, number);
      chart.series[i - 1].x.push_back(number_of(cells[0], at));
      chart.series[i - 1].y.push_back(number_of(cells[i], at));
    }
  }
  require(!chart.series.empty(), "{}: found no line, expected names in the first one", where);
  return chart;
}

}  // namespace fovea
