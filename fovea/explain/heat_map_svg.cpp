#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/explain/colours.h"
#include "fovea/explain/heat_map.h"
#include "fovea/explain/svg.h"

namespace fovea {
namespace {

constexpr double page_width = 1200, edge = 14, longest_label = 170;
const double slant = std::sqrt(0.5);  // of a label that is turned by 45 degrees

struct Box {
  double width = 0, height = 0;
  std::string svg;
};

// The cells of a map with the names of its rows and columns around them.
class Matrix {
 public:
  struct Look {
    double cell, font;
    bool numbers;
  };
  Matrix(const HeatMap& map, const Look& look) : map_(map), look_(look), measure_(Measure::font(look.font)) {
    for (size_t c = 0; c < map.columns.size(); ++c) {
      const double label = std::min(longest_label, measure_(map.columns[c])) * slant;
      above_ = std::max(above_, label + look.font);
      right_ = std::max(right_, column_at(c) + label + look.font / 2 - width());
    }
    left_ = std::min(longest_label, measure_.widest(map.rows)) + 7;
    // In what is shown under the mouse a name may be longer, but not without end: it is written for each cell.
    for (const std::string& row : map.rows) row_hints_.push_back(svg_text(measure_.shortened(row, 4 * longest_label)));
    for (const std::string& c : map.columns)
      column_hints_.push_back(svg_text(measure_.shortened(c, 4 * longest_label)));
  }

  double left() const { return left_; }    // what row names need
  double above() const { return above_; }  // what column names need
  double right() const { return right_; }  // what the last column names need behind the cells
  double width() const { return look_.cell * static_cast<double>(map_.columns.size()); }
  double height() const { return look_.cell * static_cast<double>(map_.rows.size()); }

  // With the upper left corner of the cells at (x, y).
  std::string cells(double x, double y) const {
    std::string svg;
    for (size_t r = 0; r < map_.rows.size(); ++r)
      for (size_t c = 0; c < map_.columns.size(); ++c)
        svg += cell(r, c, x + look_.cell * static_cast<double>(c), y + look_.cell * static_cast<double>(r));
    return svg;
  }
  std::string row_names(double x, double y) const {
    std::string svg;
    for (size_t r = 0; r < map_.rows.size(); ++r) {
      const double middle = y + look_.cell * (static_cast<double>(r) + 0.5);
      svg += svg_label(x - 7, middle + look_.font * 0.35, measure_.shortened(map_.rows[r], longest_label),
                       {.size = look_.font, .anchor = "end"});
    }
    return svg;
  }
  std::string column_names(double x, double y) const {
    std::string svg;
    for (size_t c = 0; c < map_.columns.size(); ++c)
      svg += svg_label(x + column_at(c), y - look_.font / 2, measure_.shortened(map_.columns[c], longest_label),
                       {.size = look_.font, .turn = -45});
    return svg;
  }

 private:
  double column_at(size_t c) const { return look_.cell * (static_cast<double>(c) + 0.5) + look_.font / 4; }

  std::string cell(size_t r, size_t c, double x, double y) const {
    const bool masked = map_.is_masked(r, c);
    const double value = map_.at(r, c), size = look_.cell - (look_.cell >= 9 ? 1 : 0.5);
    const Colour colour = colour_of(value);
    const std::string fill = masked              ? "url(#masked)"
                             : std::isnan(value) ? "url(#no-number)"
                                                 : fmt::format("rgb({},{},{})", colour.red, colour.green, colour.blue);
    std::string svg = fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{} → {}: "
        "{}</title></rect>\n",
        x, y, size, size, fill, row_hints_[r], column_hints_[c], masked ? "masked" : fmt::format("{:.4f}", value));
    if (!look_.numbers || masked) return svg;
    return svg + svg_label(x + size / 2, y + size / 2 + 4, fmt::format("{:.2f}", value),
                           {.size = 11, .anchor = "middle", .fill = needs_light_text(value) ? "#ffffff" : "#1b2733"});
  }

  const HeatMap& map_;
  Look look_;
  Measure measure_;
  double left_ = 0, above_ = 0, right_ = 0;
  std::vector<std::string> row_hints_, column_hints_;
};

Box draw_panel(const HeatMap& map) {
  const double longest = static_cast<double>(std::max({map.rows.size(), map.columns.size(), size_t{1}}));
  const double cell = std::clamp(560 / longest, 10.0, 44.0);
  const Matrix matrix(map, {.cell = cell, .font = cell < 14 ? 9.0 : 13.0, .numbers = cell >= 30});
  const double x = edge + matrix.left();
  Box box = {x + std::max(matrix.width() + matrix.right(), 110.0) + edge, 0, {}};
  double y = 10;
  if (!map.title.empty()) {
    const LabelLook look = {.bold = true};
    // The title begins above the cells; one that is too long for that, at the left edge.
    const Measure measure = Measure::font(look.size, true);
    const double begin = x + measure(map.title) <= box.width - edge ? x : edge;
    for (const std::string& line : measure.wrapped(map.title, box.width - begin - edge, 3))
      box.svg += svg_label(begin, y += 16, line, look);
    y += 10;
  }
  y += matrix.above();
  box.svg += matrix.column_names(x, y) + matrix.row_names(x, y) + matrix.cells(x, y);
  box.height = y + matrix.height() + 20;
  return box;
}

// Panels one beside the other, in as many rows as they need.
Box draw_panels(const std::vector<HeatMap>& maps) {
  Box all;
  double x = 0, y = 0, row = 0;
  for (const HeatMap& map : maps) {
    const Box box = draw_panel(map);
    if (x > 0 && x + box.width > page_width) x = 0, y += row, row = 0;
    all.svg += svg_moved(x, y, box.svg);
    x += box.width;
    row = std::max(row, box.height);
    all.width = std::max(all.width, x);
  }
  all.height = y + row;
  return all;
}

using Layers = std::vector<std::vector<const HeatMap*>>;  // the heads of each

Layers layers_of(const std::vector<HeatMap>& maps) {
  Layers layers;
  for (const HeatMap& map : maps) {
    if (layers.empty() || layers.back()[0]->layer != map.layer) layers.emplace_back();
    layers.back().push_back(&map);
  }
  return layers;
}

bool is_grid(const std::vector<HeatMap>& maps) {
  const Layers layers = layers_of(maps);
  return layers.size() > 1 && layers.size() < maps.size() &&
         std::all_of(maps.begin(), maps.end(), [](const HeatMap& m) { return !m.layer.empty() && m.head >= 0; });
}

// A page of small maps: a row for each layer, a column for each head.
class Grid {
 public:
  explicit Grid(const std::vector<HeatMap>& maps) : layers_(layers_of(maps)) {
    size_t longest = 1;
    for (const HeatMap& map : maps) {
      longest = std::max({longest, map.rows.size(), map.columns.size()});
      columns_.emplace(map.head, 0.0);
    }
    const double cell = std::clamp(150 / static_cast<double>(longest), 8.0, 14.0);
    look_ = {.cell = cell, .font = cell * 0.75, .numbers = false};
    for (const HeatMap& map : maps) {
      const Matrix matrix(map, look_);
      names_ = std::max(names_, matrix.left());
      map_width_ = std::max(map_width_, matrix.width() + std::max(16.0, matrix.right()));
      layer_names_ = std::max(layer_names_, name_measure(map.layer) + 12);
    }
    double x = edge + layer_names_ + names_;
    for (auto& [head, place] : columns_) place = x, x += map_width_;
    width_ = x + edge;
  }

  Box draw() const {
    Box box = {width_, 28, {}};
    for (const auto& [head, x] : columns_)
      box.svg += svg_label(x, box.height - 8, fmt::format("head {}", head), {.bold = true});
    const HeatMap* above = nullptr;
    for (const auto& heads : layers_) {
      const Matrix first(*heads[0], look_);
      // Column names that stand above already are not written again.
      const bool named = !above || above->columns != heads[0]->columns;
      const double y = box.height + (named ? first.above() : 0);
      box.svg += svg_label(edge, y + first.height() / 2 + 4, heads[0]->layer, {.bold = true});
      box.svg += first.row_names(columns_.at(heads[0]->head), y);
      for (const HeatMap* map : heads) {
        const Matrix matrix(*map, look_);
        const double x = columns_.at(map->head);
        if (named) box.svg += matrix.column_names(x, y);
        box.svg += matrix.cells(x, y);
      }
      box.height = y + first.height() + 14;
      above = heads[0];
    }
    return box;
  }

 private:
  static double name_measure(const std::string& text) { return Measure::font(13, true)(text); }

  Layers layers_;
  std::map<int64_t, double> columns_;  // where each head's maps begin
  Matrix::Look look_ = {};
  double names_ = 0, map_width_ = 0, layer_names_ = 0, width_ = 0;
};

}  // namespace

std::string to_svg(const std::vector<HeatMap>& panels) {
  Box page;
  for (auto first = panels.begin(); first != panels.end();) {
    const auto last =
        std::find_if(first, panels.end(), [&](const HeatMap& map) { return map.heading != first->heading; });
    const std::vector<HeatMap> group(first, last);
    const Box box = is_grid(group) ? Grid(group).draw() : draw_panels(group);
    page.width = std::max(page.width, box.width);
    if (!first->heading.empty()) {
      const LabelLook look = {.size = 15, .bold = true};
      const Measure measure = Measure::font(look.size, true);
      page.width = std::max(page.width, std::min(page_width, measure(first->heading) + 2 * edge));
      page.height += 8;
      for (const std::string& line : measure.wrapped(first->heading, page.width - 2 * edge, 4))
        page.svg += svg_label(edge, page.height += 20, line, look);
      page.height += 4;
    }
    page.svg += svg_moved(0, page.height, box.svg);
    page.height += box.height;
    first = last;
  }
  return svg_sheet(page.width, page.height, page.svg);
}

}  // namespace fovea
