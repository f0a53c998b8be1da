#include "fovea/explain/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/explain/colours.h"
#include "fovea/explain/measure.h"

namespace fovea {
namespace {

constexpr size_t most_blocks = 4;  // of numbers; a map that needs more is drawn in shades

std::string wrapped_text(std::string_view text, int width) {
  std::string result;
  for (const std::string& line : Measure::cells().wrapped(text, width, 100)) result += line + "\n";
  return result;
}

// A map on a terminal: how wide its parts are, and block by block what is written.
class TerminalMap {
 public:
  TerminalMap(const HeatMap& map, const TerminalLook& look) : map_(map), look_(look) {
    labels_ = std::min({static_cast<int>(Measure::cells().widest(map.rows)), 20, std::max(4, look.width / 3)});
    room_ = std::max(2, look.width - labels_ - 2);
    const int headings = static_cast<int>(Measure::cells().widest(map.columns));
    choose(4, std::clamp(headings, 6, 12));
    if (blocks() > 1 || cell_ < 7) choose(2, std::clamp(headings, 4, 8));
    if (blocks() > most_blocks || cell_ < 5) digits_ = 0, cell_ = 2;
  }

  std::string text() const {
    std::string text = map_.title.empty() ? "" : wrapped_text(map_.title, look_.width);
    const size_t step = (map_.columns.size() + blocks() - 1) / std::max<size_t>(1, blocks());
    for (size_t begin = 0; begin < map_.columns.size(); begin += step) {
      const size_t end = std::min(begin + step, map_.columns.size());
      if (begin > 0) text += "\n";
      text += digits_ > 0 ? headings(begin, end) : turned_headings(begin, end);
      for (size_t r = 0; r < map_.rows.size(); ++r) text += row(r, begin, end);
    }
    if (digits_ == 0)
      text += wrapped_text("░ from 0.05, ▒ 0.25, ▓ 0.5, █ 0.75; the numbers: --json or --svg", look_.width);
    return text;
  }

 private:
  void choose(int digits, int headings) {
    digits_ = digits;
    cell_ = std::min(headings + 1, room_);
  }
  size_t per_block() const { return static_cast<size_t>(std::max(1, room_ / cell_)); }
  size_t blocks() const { return (map_.columns.size() + per_block() - 1) / per_block(); }
  std::string margin() const { return std::string(static_cast<size_t>(labels_ + 2), ' '); }

  std::string headings(size_t begin, size_t end) const {
    std::string text = margin();
    for (size_t c = begin; c < end; ++c)
      text += padded(Measure::cells().shortened(map_.columns[c], cell_ - 1), cell_, true);
    return text + "\n";
  }

  // A character under the other, each in a cell of two, so that wide ones fit; they end above the map.
  std::string turned_headings(size_t begin, size_t end) const {
    std::vector<std::vector<std::string>> columns;
    size_t height = 0;
    for (size_t c = begin; c < end; ++c) {
      columns.push_back(with_marks(map_.columns[c]));
      if (columns.back().size() > 12) columns.back().resize(11), columns.back().push_back("⋮");
      height = std::max(height, columns.back().size());
    }
    std::string text;
    for (size_t line = 0; line < height; ++line) {
      text += margin();
      for (const auto& letters : columns) {
        const size_t above = height - letters.size();
        text += padded(line < above ? "" : letters[line - above], cell_, true);
      }
      text += "\n";
    }
    return text;
  }

  std::string row(size_t r, size_t begin, size_t end) const {
    std::string text = padded(Measure::cells().shortened(map_.rows[r], labels_), labels_) + "  ";
    for (size_t c = begin; c < end; ++c) text += cell(r, c);
    return text + "\n";
  }

  std::string cell(size_t r, size_t c) const {
    if (map_.is_masked(r, c)) return padded("·", cell_, true);
    const double value = map_.at(r, c);
    if (digits_ == 0) return std::isnan(value) ? padded("?", cell_, true) : shade(value, cell_, look_.colour);
    const std::string number = padded(fmt::format("{:.{}f}", value, digits_), cell_, true);
    return look_.colour ? painted(value, number) : number;
  }

  const HeatMap& map_;
  const TerminalLook& look_;
  int labels_ = 0, room_ = 0, cell_ = 0, digits_ = 0;
};

}  // namespace

void HeatMap::mask_future() {
  masked.assign(values.size(), false);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = r + 1; c < columns.size(); ++c) masked[r * columns.size() + c] = true;
}

std::string bar(double value, int length) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int parts = std::isnan(value) ? 0 : static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * length * 8));
  std::string result;
  for (int i = 0; i < parts / 8; ++i) result += "█";
  return result + eighths[parts % 8];
}

std::string to_terminal(const HeatMap& map, const TerminalLook& look) { return TerminalMap(map, look).text(); }

}  // namespace fovea
