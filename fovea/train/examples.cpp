#include "fovea/train/examples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/catalogue.h"

namespace fovea {
namespace {

std::vector<int64_t> evenly(const std::vector<int64_t>& numbers, int64_t wanted) {
  const auto size = static_cast<int64_t>(numbers.size());
  if (wanted == 0 || size <= wanted) return numbers;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < wanted; ++i) chosen.push_back(numbers[static_cast<size_t>(i * size / wanted)]);
  return chosen;
}

std::string text_of(const Example& e) {
  if (!e.tokens.empty()) return fmt::format("{}", fmt::join(e.tokens, " "));
  return e.text_b.empty() ? e.source : e.source + "\t" + e.text_b;
}

std::vector<PlannedFile> planned(const std::vector<std::string>& paths, ExampleKind kind) {
  if (kind == ExampleKind::pairs) return plan_files(paths);
  std::vector<PlannedFile> plan;
  for (const std::string& path : paths) plan.push_back({path});
  return plan;
}

Columns columns_of(const ExamplesConfig& c, Columns columns) {
  if (c.header != "auto" && c.header != "yes" && c.header != "no")
    throw_unknown("--header", c.header, {"auto", "yes", "no"});
  if (c.header != "auto") columns.header = c.header == "yes";
  return columns;
}

// Plain texts that are one document each are divided inside, everything else text by text.
bool divides_files(const ExampleFormat& format) {
  return format.kind == ExampleKind::documents && format.columns.documents == "file";
}

std::string division_of(const ExamplesConfig& c, const ExampleFormat& format) {
  std::string text;
  const char* what = format.kind == ExampleKind::pictures ? "pictures" : "texts";
  const char* by = divides_files(format) ? "(of a plain text its end, of others by their CRC-32)" : "by their CRC-32";
  if (c.test > 0) text += fmt::format(", {} % of the {} for testing {}", c.test, what, by);
  if (c.test_every > 0) text += fmt::format(", every {}th line for testing", c.test_every);
  if (!c.validation.empty()) {
    text += ", validation from files of its own";
  } else if (c.hold_out > 0) {
    text += fmt::format(", {} % of the {} for validation {}", c.hold_out, what, by);
  }
  return text.empty() ? text : text.substr(2);
}

std::vector<std::string> labels_of(const Example& e) {
  if (!e.tags.empty()) return e.tags;
  return e.label.empty() ? e.labels : std::vector<std::string>{e.label};
}

// The labels that more than one text has.
std::set<std::string> common_labels(const Examples& e) {
  std::map<std::string, std::string> text_with;
  std::set<std::string> common;
  for (int64_t i : e.training) {
    const Example example = e.data[i];
    const std::string text = text_of(example);
    for (const std::string& label : labels_of(example))
      if (text_with.emplace(label, text).first->second != text) common.insert(label);
  }
  return common;
}

// A label all of whose texts were held out could not be learned: the first of them, with its copies, is learned from instead.
void learn_every_label(Examples& e) {
  std::set<std::string> learned, texts;
  for (int64_t i : e.training)
    for (std::string& label : labels_of(e.data[i])) learned.insert(std::move(label));
  for (int64_t i : e.validation) {
    const Example example = e.data[i];
    bool lacks = false;
    for (std::string& label : labels_of(example)) lacks = learned.insert(std::move(label)).second || lacks;
    if (lacks) texts.insert(text_of(example));
  }
  if (texts.empty()) return;
  std::erase_if(e.validation, [&](int64_t i) {
    const bool moved = texts.contains(text_of(e.data[i]));
    if (moved) e.training.push_back(i);
    return moved;
  });
  std::sort(e.training.begin(), e.training.end());
  e.division +=
      fmt::format("; {} whose label no other has {} learned from", texts.size(), texts.size() == 1 ? "is" : "are");
}

// Moves one text with all its copies, unless it is the only one, or the only one with its label.
void hold_out_one(Examples& e, bool learns_labels) {
  std::pair<int64_t, std::string> next = {100, ""};
  std::set<std::string> texts;
  const std::set<std::string> common = learns_labels ? common_labels(e) : std::set<std::string>();
  for (int64_t i : e.training) {
    const Example example = e.data[i];
    std::string text = text_of(example);
    if (texts.size() < 2) texts.insert(text);
    const auto is_common = [&](const std::string& label) { return common.contains(label); };
    if (learns_labels && !std::ranges::all_of(labels_of(example), is_common)) continue;
    const int64_t bucket = bucket_of(text);
    if (bucket <= next.first) next = std::min(next, {bucket, std::move(text)});
  }
  if (texts.size() < 2 || next.second.empty()) return;
  std::erase_if(e.training, [&](int64_t i) {
    const bool moved = text_of(e.data[i]) == next.second;
    if (moved) e.validation.push_back(i);
    return moved;
  });
  e.division += "; that was none of so few, and the text with the next CRC-32 was held out instead";
}

}  // namespace

void check(const ExamplesConfig& c) {
  require(!c.data.empty(), "training: found no --data, expected the files to learn from");
  require(c.hold_out >= 0 && c.test >= 0 && c.hold_out + c.test < 100,
          "training: found --hold-out {} and --test {}, expected percents of together less than 100", c.hold_out,
          c.test);
  require(c.test_every == 0 || c.test_every > 1, "--test-every: found {}, expected 0, or 2 or more", c.test_every);
  require(c.validate_on >= 0, "--validate-on: found {}, expected 0 or more", c.validate_on);
}

Examples read_examples(const ExamplesConfig& c, const ExampleFormat& format) {
  check(c);
  Examples e = {.data = Dataset({.strict = c.strict, .names = format.names}),
                .training = {},
                .validation = {},
                .test = {},
                .held_out = 0,
                .kind = format.kind,
                .division = division_of(c, format)};
  const bool holds_out = c.validation.empty();
  Columns columns = columns_of(c, format.columns);
  columns.tail = holds_out ? c.hold_out : 0;
  columns.test_tail = c.test;
  for (const PlannedFile& file : planned(c.data, format.kind)) {
    const int64_t first = e.data.size();
    read_planned(file, format.kind, e.data, columns);
    const bool divided = divides_files(format) && is_plain_document(file.path, columns);
    for (int64_t i = first; i < e.data.size(); ++i) {
      const Example example = e.data[i];
      const int64_t b = divided ? 100 : bucket_of(text_of(example));
      const bool tested = b < c.test || (c.test_every > 0 && (i - first + 1) % c.test_every == 0) ||
                          (divided && example.label == "test");
      const bool held_out = holds_out && (b < c.test + c.hold_out || (divided && example.label == "validation"));
      (tested ? e.test : held_out ? e.validation : e.training).push_back(i);
    }
  }
  columns.tail = columns.test_tail = 0;
  if (holds_out && format.learns_labels) learn_every_label(e);
  if (holds_out && c.hold_out > 0 && e.validation.empty()) hold_out_one(e, format.learns_labels);
  for (const PlannedFile& file : planned(c.validation, format.kind)) {
    const int64_t first = e.data.size();
    read_planned(file, format.kind, e.data, columns);
    for (int64_t i = first; i < e.data.size(); ++i) e.validation.push_back(i);
  }
  e.held_out = static_cast<int64_t>(e.validation.size());
  e.validation = evenly(e.validation, c.validate_on);
  return e;
}

}  // namespace fovea
