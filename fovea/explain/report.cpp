#include "fovea/explain/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace fovea {
namespace {

size_t largest_in(const HeadReport& h, size_t row) {
  const auto first = h.weights.begin() + static_cast<std::ptrdiff_t>(row * h.columns.size());
  return static_cast<size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(h.columns.size())) - first);
}

double focus_of(const HeadReport& h) {
  double sum = 0;
  for (size_t row = 0; row < h.rows.size(); ++row) sum += h.at(row, largest_in(h, row));
  return sum / static_cast<double>(h.rows.size());
}

// "-1 in 5 of 8": the most frequent distance from a row's own place to its largest weight; the nearest of equals.
std::string offset_of(const HeadReport& h) {
  if (h.kind != Place::Kind::self) return "";
  std::map<int64_t, int> counts;
  for (size_t row = 0; row < h.rows.size(); ++row)
    ++counts[static_cast<int64_t>(largest_in(h, row)) - static_cast<int64_t>(row)];
  const auto best = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, -std::abs(a.first)) < std::pair(b.second, -std::abs(b.first));
  });
  return fmt::format("{:+} in {} of {}", best->first, best->second, h.rows.size());
}

// The largest weights of all.
std::string links_of(const HeadReport& h, size_t most) {
  std::vector<size_t> cells(h.weights.size());
  std::iota(cells.begin(), cells.end(), size_t{0});
  std::stable_sort(cells.begin(), cells.end(), [&](size_t a, size_t b) { return h.weights[a] > h.weights[b]; });
  cells.resize(std::min(most, cells.size()));
  std::string text;
  for (size_t i : cells)
    text += fmt::format("{}{} → {} {:.2f}", text.empty() ? "" : "   ", h.rows[i / h.columns.size()],
                        h.columns[i % h.columns.size()], h.weights[i]);
  return text;
}

}  // namespace

std::vector<HeatMap> Report::maps() const {
  std::vector<HeatMap> maps;
  for (const HeadReport& h : heads) {
    maps.push_back({fmt::format("{}, head {}", h.place, h.head), h.rows, h.columns, h.weights});
    maps.back().layer = h.place, maps.back().head = h.head;
    if (h.causal) maps.back().mask_future();
  }
  return maps;
}

Report report_of(const Recording& seen) {
  Report report = {seen.text, seen.answer, {}};
  for (const auto& [name, s] : seen.sequences)
    for (size_t i = 0; i < s.alternatives.size() && i < s.probabilities.size(); ++i)
      report.written.push_back({s.pieces[i], s.probabilities[i], s.alternatives[i]});
  for (const RecordedPlace& p : seen.places) {
    require(p.rows() <= static_cast<int64_t>(most_explained_tokens) &&
                p.columns() <= static_cast<int64_t>(most_explained_tokens),
            "explain: found a text of {} tokens, expected at most {}", std::max(p.rows(), p.columns()),
            most_explained_tokens);
    for (size_t i = 0; i < p.heads.size(); ++i)
      report.heads.push_back({p.place.path, p.heads[i], seen.rows_of(p).pieces, seen.columns_of(p).pieces,
                              p.part(i, {}, {}).values<double>(), p.place.kind, p.place.causal});
  }
  return report;
}

Report explain(const Model& model, const Tokenizer& tokenizer, const std::string& text, const ExplainOptions& options) {
  return report_of(record(model, tokenizer, text, options));
}

std::string to_text(const Report& report) {
  std::string text = report.answer + "\n";
  if (report.heads.empty()) return text;
  size_t width = 5;
  for (const HeadReport& h : report.heads) width = std::max(width, h.place.size());
  text += fmt::format("\n{:<{}}  head  focus  {:<14}  strongest links\n", "place", width, "largest at");
  for (const HeadReport& h : report.heads)
    text += fmt::format("{:<{}}  {:>4}  {:>5.2f}  {:<14}  {}\n", h.place, width, h.head, focus_of(h), offset_of(h),
                        links_of(h, 3));
  return text;
}

}  // namespace fovea
