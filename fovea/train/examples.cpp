#include "fovea/train/examples.h"

#include <fmt/ranges.h>

#include <algorithm>
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
  return e.tokens.empty() ? e.source : fmt::format("{}", fmt::join(e.tokens, " "));
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

std::string division_of(const ExamplesConfig& c) {
  std::string text;
  if (c.test > 0) text += fmt::format(", {} % of the texts for testing by their CRC-32", c.test);
  if (c.test_every > 0) text += fmt::format(", every {}th line for testing", c.test_every);
  if (!c.validation.empty()) {
    text += ", validation from files of its own";
  } else if (c.hold_out > 0) {
    text += fmt::format(", {} % of the texts for validation by their CRC-32", c.hold_out);
  }
  return text.empty() ? text : text.substr(2);
}

// Moves one text with all its copies, unless it is the only one.
void hold_out_one(Examples& e) {
  std::pair<int64_t, std::string> next = {100, ""};
  std::set<std::string> texts;
  for (int64_t i : e.training) {
    std::string text = text_of(e.data[i]);
    if (texts.size() < 2) texts.insert(text);
    const int64_t bucket = bucket_of(text);
    if (bucket <= next.first) next = std::min(next, {bucket, std::move(text)});
  }
  if (texts.size() < 2) return;
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
                .division = division_of(c)};
  const bool holds_out = c.validation.empty();
  const Columns columns = columns_of(c, format.columns);
  for (const PlannedFile& file : planned(c.data, format.kind)) {
    const int64_t first = e.data.size();
    read_planned(file, format.kind, e.data, columns);
    for (int64_t i = first; i < e.data.size(); ++i) {
      const int64_t b = bucket_of(text_of(e.data[i]));
      const bool tested = b < c.test || (c.test_every > 0 && (i - first + 1) % c.test_every == 0);
      (tested ? e.test : holds_out && b < c.test + c.hold_out ? e.validation : e.training).push_back(i);
    }
  }
  if (holds_out && c.hold_out > 0 && e.validation.empty()) hold_out_one(e);
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
