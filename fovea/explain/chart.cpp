#include "fovea/explain/chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"
#include "fovea/explain/heat_map.h"
#include "fovea/explain/svg.h"
#include "fovea/formats/matrix_text.h"

namespace fovea {
namespace {

constexpr double panel_width = 580, panel_height = 320;
constexpr double left = 66, right = 22, top = 46, bottom = 50;
constexpr double plot_width = panel_width - left - right, plot_height = panel_height - top - bottom;

// Told apart by lightness too, for prints and for eyes that confuse red and green.
constexpr const char* colours[] = {"#2171b5", "#e07b00", "#1b7f4b", "#7a5195", "#c0392b", "#53616e"};

const char* colour_of(size_t series) { return colours[series % std::size(colours)]; }

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

std::string draw_line(const std::vector<Point>& points, const char* colour) {
  if (points.size() < 2) return {};
  std::string path;
  for (const Point& p : thinned(points)) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", p.x, p.y);
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" "
      "stroke-linecap=\"round\"/>\n",
      path, colour);
}

std::string draw_series(const Series& series, const Axes& axes, const char* colour) {
  std::string lines, marks;
  std::vector<Point> run;
  const bool marked = series.x.size() <= 40;
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!axes.is_drawn(series.x[i], series.y[i])) {
      lines += draw_line(run, colour);
      run.clear();
      continue;
    }
    run.push_back({axes.x(series.x[i]), axes.y(series.y[i])});
    if (!marked) continue;
    marks += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\" stroke=\"#ffffff\"><title>{} at {}: "
        "{:.6g}</title></circle>\n",
        run.back().x, run.back().y, colour, svg_text(series.name), series.x[i], series.y[i]);
  }
  return lines + draw_line(run, colour) + marks;
}

std::string draw_axes(const Chart& chart, const Axes& axes) {
  std::string svg = fmt::format("<text x=\"{}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{}</text>\n", left,
                                svg_text(chart.title));
  for (double tick : axes.y_ticks()) {
    svg += fmt::format(
        "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#e3e8ee\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\" "
        "fill=\"#53616e\">{5}</text>\n",
        left, axes.y(tick), left + plot_width, left - 9, axes.y(tick) + 4, tick_text(tick));
  }
  const double floor = top + plot_height;
  for (double tick : axes.x_ticks()) {
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1}v5\" stroke=\"#9aa7b4\"/><text x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\" "
        "fill=\"#53616e\">{3}</text>\n",
        axes.x(tick), floor, floor + 19, tick_text(tick));
  }
  svg += fmt::format("<path d=\"M{} {}H{}\" stroke=\"#9aa7b4\"/>\n", left, floor, left + plot_width);
  return svg + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#53616e\">{}</text>\n",
                           left + plot_width / 2, floor + 39, svg_text(chart.x_label));
}

// The length of the curves that lie in a box, by 32 points of each of their pieces.
double covered(const Chart& chart, const Axes& axes, Point corner, double width, double height) {
  double inside = 0;
  for (const Series& s : chart.series) {
    for (size_t i = 1; i < s.x.size(); ++i) {
      if (!axes.is_drawn(s.x[i - 1], s.y[i - 1]) || !axes.is_drawn(s.x[i], s.y[i])) continue;
      const Point a = {axes.x(s.x[i - 1]), axes.y(s.y[i - 1])}, b = {axes.x(s.x[i]), axes.y(s.y[i])};
      for (int k = 0; k < 32; ++k) {
        const double x = std::lerp(a.x, b.x, k / 31.0) - corner.x, y = std::lerp(a.y, b.y, k / 31.0) - corner.y;
        if (x >= 0 && x <= width && y >= 0 && y <= height) inside += std::hypot(b.x - a.x, b.y - a.y) / 32;
      }
    }
  }
  return inside;
}

// In the title's line, where it covers no curve; if that is too short, one under the other inside the plot, in the corner where
// it covers least.
std::string draw_legend(const Chart& chart, const Axes& axes) {
  if (chart.series.size() < 2) return {};
  auto width_of = [](const Series& s) { return 7.0 * cells(s.name) + 40; };
  double total = 7.0 * cells(chart.title) + 20, widest = 0;
  for (const Series& s : chart.series) total += width_of(s), widest = std::max(widest, width_of(s));
  const bool in_line = total <= plot_width;
  Point at = {left + plot_width, 20};
  if (!in_line) {
    const double height = 18.0 * static_cast<double>(chart.series.size()) + 2;
    double least = std::numeric_limits<double>::infinity();
    for (const double y : {top, top + plot_height - height}) {
      for (const double x : {left + plot_width - widest, left}) {
        const double length = covered(chart, axes, {x, y}, widest, height);
        if (length < least) least = length, at = {x, y + 12};
      }
    }
  }
  std::string svg;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const size_t which = in_line ? chart.series.size() - 1 - i : i;
    if (in_line) at.x -= width_of(chart.series[which]);
    svg += fmt::format(
        "<path d=\"M{:.1f} {}h18\" stroke=\"{}\" stroke-width=\"3\" stroke-linecap=\"round\"/><text x=\"{:.1f}\" "
        "y=\"{}\">{}</text>\n",
        at.x + 14, at.y, colour_of(which), at.x + 38, at.y + 4, svg_text(chart.series[which].name));
    if (!in_line) at.y += 18;
  }
  return svg;
}

std::string draw(const Chart& chart, double x, double y) {
  const Axes axes(chart);
  std::string svg = fmt::format("<g transform=\"translate({},{})\">\n", x, y) + draw_axes(chart, axes);
  for (size_t i = 0; i < chart.series.size(); ++i) svg += draw_series(chart.series[i], axes, colour_of(i));
  return svg + draw_legend(chart, axes) + "</g>\n";
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
  for (size_t i = 0; i < charts.size(); ++i) {
    for (const Series& s : charts[i].series) {
      require(s.x.size() == s.y.size(), "chart '{}': series '{}': found {} x and {} y, expected as many",
              charts[i].title, s.name, s.x.size(), s.y.size());
    }
    body += draw(charts[i], panel_width * static_cast<double>(i % 2), panel_height * static_cast<double>(i / 2));
  }
  const double columns = charts.size() > 1 ? 2 : 1, rows = static_cast<double>((charts.size() + 1) / 2);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#1b2733\">\n<rect width=\"100%\" "
             "height=\"100%\" fill=\"#ffffff\"/>\n",
             panel_width * columns, panel_height * std::max(1.0, rows)) +
         body + "</svg>\n";
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
