#include "fovea/train/data_summary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

constexpr size_t labels_to_show = 12, numbers_from = 20;

int64_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

// 1234567 as 1,234,567.
std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), 1, ',');
  return text;
}

std::string counted(int64_t number, const char* noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

class Summing {
 public:
  explicit Summing(const Examples& e) : examples_(e) {
    if (e.kind == ExampleKind::pictures) {
      add_length("picture", "bytes");
    } else if (e.kind == ExampleKind::tagged) {
      add_length("sentence", "words");
    } else {
      add_length(e.kind == ExampleKind::pairs ? "source" : "text", "characters");
    }
    if (e.kind == ExampleKind::pairs) add_length("target", "characters");
    for (int64_t i = 0; i < e.data.size(); ++i) add(e.data[i]);
  }

  DataSummary finish() {
    const auto size = static_cast<double>(std::max<int64_t>(examples_.data.size(), 1));
    for (Lengths& length : result_.lengths) length.mean /= size;
    result_.labels = {counts_.begin(), counts_.end()};
    std::ranges::stable_sort(result_.labels, [](const auto& a, const auto& b) { return a.second > b.second; });
    find_numbers();
    find_headers();
    return std::move(result_);
  }

 private:
  void add_length(const char* of, const char* unit) { result_.lengths.push_back({.of = of, .unit = unit}); }

  void measure(size_t which, int64_t length) {
    result_.lengths[which].mean += static_cast<double>(length);
    result_.lengths[which].longest = std::max(result_.lengths[which].longest, length);
  }

  void add(const Example& e) {
    if (examples_.kind == ExampleKind::tagged) {
      measure(0, static_cast<int64_t>(e.tokens.size()));
      bool any = false;
      for (const std::string& tag : e.tags) {
        if (tag[0] == 'B') ++counts_[tag.size() > 2 ? tag.substr(2) : tag];
        any = any || tag[0] == 'B';
      }
      result_.unlabelled += any ? 0 : 1;
      return;
    }
    if (examples_.kind == ExampleKind::pictures) {
      ++counts_[e.label];
      return measure(0, static_cast<int64_t>(e.source.size()));
    }
    measure(0, characters(e.source) + characters(e.text_b));
    if (examples_.kind == ExampleKind::pairs) measure(1, characters(e.target));
    if (examples_.kind == ExampleKind::labelled) ++counts_[e.label];
    if (examples_.kind != ExampleKind::label_sets) return;
    for (const std::string& label : e.labels) ++counts_[label];
    result_.unlabelled += e.labels.empty() ? 1 : 0;
  }

  void find_numbers() {
    if (examples_.kind != ExampleKind::labelled || counts_.size() <= numbers_from) return;
    double least = INFINITY, most = -INFINITY;
    for (const auto& [label, count] : counts_) {
      double value = 0;
      const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
      if (error != std::errc() || end != label.data() + label.size() || !std::isfinite(value)) return;
      least = std::min(least, value), most = std::max(most, value);
    }
    result_.numbers = {least, most};
  }

  // The first row of a table whose label is like no other.
  void find_headers() {
    if (examples_.kind != ExampleKind::labelled || result_.numbers) return;
    int64_t first = 0;
    for (const FileRead& file : examples_.data.files()) {
      const Example e = examples_.data[first];
      first += file.good;
      if (file.header || is_json(file.path) || file.good < 5 || counts_.size() < 3 || counts_[e.label] > 1) continue;
      if (!looks_like_a_name(e.source) || !looks_like_a_name(e.label)) continue;
      result_.hints.push_back(
          fmt::format("{}: the label '{}' stands in the first row only; if '{}' is the name of a column, say --header",
                      file.path, e.label, e.source));
    }
  }

  const Examples& examples_;
  DataSummary result_;
  std::map<std::string, int64_t> counts_;
};

std::string label_line(const DataSummary& s) {
  if (s.numbers) return fmt::format("labels: numbers from {} to {}", s.numbers->first, s.numbers->second);
  int64_t all = 0;
  for (const auto& [label, count] : s.labels) all += count;
  std::string line = counted(static_cast<int64_t>(s.labels.size()), "label") + ":";
  for (size_t i = 0; i < std::min(s.labels.size(), labels_to_show); ++i) {
    const auto& [label, count] = s.labels[i];
    line += fmt::format("{} {}: {} ({:.1f} %)", i == 0 ? "" : ",", label, grouped(count),
                        100.0 * static_cast<double>(count) / static_cast<double>(all));
  }
  if (s.labels.size() > labels_to_show) {
    line += fmt::format(" and {} more", grouped(static_cast<int64_t>(s.labels.size() - labels_to_show)));
  }
  if (s.unlabelled > 0) line += fmt::format("; {} without any", counted(s.unlabelled, "example"));
  return line;
}

std::string bad_line(const BadLines& bad) {
  std::vector<std::pair<std::string, int64_t>> reasons(bad.reasons.begin(), bad.reasons.end());
  std::ranges::stable_sort(reasons, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string line = "passed over " + counted(bad.count, "bad line");
  if (reasons.size() > 1 || bad.count > 1) {
    line += ":";
    for (size_t i = 0; i < std::min<size_t>(reasons.size(), 3); ++i) {
      line += fmt::format("{} {} × {}", i == 0 ? "" : ";", grouped(reasons[i].second), reasons[i].first);
    }
    if (reasons.size() > 3) line += "; …";
  }
  return line + "; the first: " + bad.first;
}

}  // namespace

DataSummary summarise(const Examples& e) {
  DataSummary s = Summing(e).finish();
  s.files = e.data.files();
  s.bad = e.data.bad();
  s.examples = e.data.size();
  s.duplicates = e.data.duplicates();
  s.training = static_cast<int64_t>(e.training.size());
  s.validation = static_cast<int64_t>(e.validation.size());
  s.held_out = e.held_out;
  s.test = static_cast<int64_t>(e.test.size());
  s.division = e.division;
  return s;
}

std::string DataSummary::text() const {
  std::vector<std::string> lines;
  for (const FileRead& file : files) {
    lines.push_back(fmt::format("{}: {}", file.path, counted(file.good, "example")));
    if (!file.columns.empty()) lines.back() += fmt::format("; {}", file.columns);
    if (file.header) lines.back() += "; the first row is its header";
  }
  if (bad.count > 0) lines.push_back(bad_line(bad));
  if (!labels.empty()) lines.push_back(label_line(*this));
  std::string sizes;
  for (const Lengths& l : lengths) {
    sizes += fmt::format("{}{}: {:.1f} {} on average, {} at most", sizes.empty() ? "" : "; ", l.of, l.mean, l.unit,
                         grouped(l.longest));
  }
  if (!sizes.empty()) lines.push_back(sizes);
  if (duplicates > 0) lines.push_back(fmt::format("{} equal to an earlier one", counted(duplicates, "example")));
  const std::string some = held_out > validation ? " of " + grouped(held_out) + " held out" : "";
  lines.push_back(fmt::format("{} to learn from, {}{} to validate on, {} kept for testing{}", grouped(training),
                              grouped(validation), some, grouped(test), division.empty() ? "" : " (" + division + ")"));
  lines.insert(lines.end(), hints.begin(), hints.end());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace fovea
