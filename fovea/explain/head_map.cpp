#include "fovea/explain/head_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "fovea/explain/svg.h"

namespace fovea {
namespace {

// Okabe and Ito's colours, which the colour-blind tell apart, each with what it is called in a cell; greys for what has no one aim.
struct NameLook {
  std::string_view name, code, fill;
  bool light;  // text
};
constexpr NameLook looks[] = {
    {"previous token", "prev", "#0072b2", true}, {"next token", "next", "#56b4e9", false},
    {"same token", "same", "#f0e442", false},    {"duplicate token", "dupl", "#b8a800", false},
    {"induction", "ind", "#d55e00", true},       {"first token", "first", "#5b4a8a", true},
    {"separator", "sep", "#9b6dc4", true},       {"punctuation", "punct", "#cc79a7", false},
    {"position", "pos", "#8a5a44", true},        {"alignment", "align", "#009e73", true},
    {"broad", "broad", "#e3e6ea", false},        {"mixed", "", "#c3c9d1", false}};

// "position 4" is a position.
const NameLook& look_of(const std::string& name) {
  for (const NameLook& look : looks)
    if (name.starts_with(look.name)) return look;
  return looks[std::size(looks) - 1];
}

std::string number(double value, bool known) {
  return known && !std::isnan(value) ? fmt::format("{:.2f}", value) : ".";
}

std::string number(const HeadShare& s) { return number(s.weight, s.rows > 0); }

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

std::string to_text(const std::vector<HeadMeasure>& heads) {
  size_t width = 5, names = 4;
  for (const HeadMeasure& h : heads)
    width = std::max(width, h.place.path.size()), names = std::max(names, h.name.size());
  std::string text = fmt::format(
      "{:<{}}  head  {:<{}}  entropy focus  dist  prev  next  same  dupl  copy  first   sep punct  diag  mono agree\n",
      "place", width, "name", names);
  for (const HeadMeasure& h : heads) {
    const bool cross = h.place.kind == Place::Kind::cross, self = h[LookedAt::same].rows > 0;
    const HeadShare& copy = h.repeated_induction.rows > 0 ? h.repeated_induction : h[LookedAt::induction];
    const HeadShare& twice = h.repeated_duplicate.rows > 0 ? h.repeated_duplicate : h[LookedAt::duplicate];
    text += fmt::format("{:<{}}  {:>4}  {:<{}}  {:>7.2f} {:>5.2f} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5}", h.place.path,
                        width, h.head, h.name, names, h.entropy, h.focus,
                        self ? fmt::format("{:.1f}", h.distance) : ".", number(h[LookedAt::previous]),
                        number(h[LookedAt::next]), number(h[LookedAt::same]), number(twice), number(copy));
    text += fmt::format("  {:>5} {:>5} {:>5} {:>5} {:>5} {:>5}\n", number(h[LookedAt::first]),
                        number(h[LookedAt::separator]), number(h[LookedAt::punctuation]), number(h.diagonality, cross),
                        number(h.monotonicity, cross), number(h.agreement, true));
  }
  return text;
}

std::string to_json(const std::vector<HeadMeasure>& heads) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const HeadMeasure& h : heads) {
    Json one = {{"place", h.place.path}, {"kind", name(h.place.kind)},      {"head", h.head},
                {"name", h.name},        {"strength", rounded(h.strength)}, {"texts", h.texts},
                {"rows", h.rows},        {"entropy", rounded(h.entropy)},   {"focus", rounded(h.focus)}};
    if (h[LookedAt::same].rows > 0) one["distance"] = rounded(h.distance);
    const auto share = [&](const std::string& key, const HeadShare& s) {
      if (s.rows > 0) one[key] = {{"weight", rounded(s.weight)}, {"chance", rounded(s.chance)}, {"rows", s.rows}};
    };
    for (size_t i = 0; i < looked_at_kinds; ++i) {
      std::string key(name(static_cast<LookedAt>(i)));
      std::replace(key.begin(), key.end(), ' ', '_');
      share(key, h.shares[i]);
    }
    if (h.position >= 0) one["position"]["column"] = h.position;
    share("repeated_duplicate", h.repeated_duplicate);
    share("repeated_induction", h.repeated_induction);
    if (h.place.kind == Place::Kind::cross) {
      one["diagonality"] = rounded(h.diagonality), one["monotonicity"] = rounded(h.monotonicity);
    }
    if (!std::isnan(h.agreement)) one["agreement"] = rounded(h.agreement);
    all.push_back(std::move(one));
  }
  return Json{{"heads", all}}.dump();
}

std::string head_map(const std::string& title, const std::vector<HeadMeasure>& heads) {
  constexpr double edge = 18, cell_width = 46, cell_height = 32, gap = 3, line = 20;
  const LabelLook small = {.size = 9.5, .anchor = "middle"};
  double left = 0;
  int64_t most = 0;
  std::map<std::string_view, int> counts;
  for (const HeadMeasure& h : heads) {
    left = std::max(left, edge + Measure::font(13)(h.place.path) + 12);
    most = std::max(most, h.head + 1);
    ++counts[look_of(h.name).name];
  }
  const double right = left + static_cast<double>(most) * (cell_width + gap);
  double y = edge + 14;
  std::string svg = svg_label(edge, y, title, {.size = 15, .bold = true});
  y += 26;
  for (int64_t h = 0; h < most; ++h)
    svg += svg_label(left + static_cast<double>(h) * (cell_width + gap) + cell_width / 2, y, std::to_string(h), small);
  y += 8;
  std::string_view above;
  for (const HeadMeasure& h : heads) {
    if (h.place.path != above) {
      if (!above.empty()) y += cell_height + gap;
      above = h.place.path;
      svg += svg_label(edge, y + cell_height / 2 + 4, h.place.path);
    }
    const NameLook& look = look_of(h.name);
    const double x = left + static_cast<double>(h.head) * (cell_width + gap);
    const char* ink = look.light ? "#ffffff" : "#1b2733";
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\"><title>{}, head {}: {} "
        "{:.2f}</title></rect>\n",
        x, y, cell_width, cell_height, look.fill, svg_text(h.place.path), h.head, svg_text(h.name), h.strength);
    if (look.code.empty()) continue;
    svg +=
        svg_label(x + cell_width / 2, y + 14, look.code, {.size = 11, .bold = true, .anchor = "middle", .fill = ink});
    svg += svg_label(x + cell_width / 2, y + 26, fmt::format("{:.2f}", h.strength),
                     {.size = 9.5, .anchor = "middle", .fill = ink});
  }
  y += cell_height + 24;
  double x = edge;
  const double width = std::max(right, 420.0);
  for (const NameLook& look : looks) {
    if (!counts.contains(look.name)) continue;
    const std::string text = fmt::format("{} ({})", look.name, counts[look.name]);
    const double needed = 22 + Measure::font(13)(text) + 18;
    if (x > edge && x + needed > width) x = edge, y += line;
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" rx=\"3\" fill=\"{}\"/>\n", x, y - 11,
                       look.fill);
    svg += svg_label(x + 20, y, text);
    x += needed;
  }
  return svg_sheet(width + edge, y + edge, svg);
}

}  // namespace fovea
