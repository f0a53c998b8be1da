#include "fovea/train/examples.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::vector<int64_t> evenly(const std::vector<int64_t>& numbers, int64_t wanted) {
  const auto size = static_cast<int64_t>(numbers.size());
  if (wanted == 0 || size <= wanted) return numbers;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < wanted; ++i) chosen.push_back(numbers[static_cast<size_t>(i * size / wanted)]);
  return chosen;
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

bool is_json(const std::string& path) {
  const std::string_view name = path.ends_with(".gz") ? std::string_view(path).substr(0, path.size() - 3) : path;
  return name.ends_with(".json") || name.ends_with(".jsonl");
}

Examples read_examples(const ExamplesConfig& c, const ExampleFormat& format) {
  check(c);
  Examples e = {.data = Dataset({.strict = c.strict, .names = c.names}), .training = {}, .validation = {}, .test = {}};
  const bool holds_out = c.validation.empty();
  for (size_t file = 0; file < c.data.size(); ++file) {
    const int64_t first = e.data.size();
    format.read(ExampleFormat::data, file, e.data);
    for (int64_t i = first; i < e.data.size(); ++i) {
      const int64_t b = bucket_of(format.key(e.data[i]));
      const bool tested = b < c.test || (c.test_every > 0 && (i - first + 1) % c.test_every == 0);
      (tested ? e.test : holds_out && b < c.test + c.hold_out ? e.validation : e.training).push_back(i);
    }
  }
  for (size_t file = 0; file < c.validation.size(); ++file) {
    const int64_t first = e.data.size();
    format.read(ExampleFormat::validation, file, e.data);
    for (int64_t i = first; i < e.data.size(); ++i) e.validation.push_back(i);
  }
  e.validation = evenly(e.validation, c.validate_on);
  return e;
}

}  // namespace fovea
