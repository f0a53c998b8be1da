// The examples of a training: read from files, and divided into those that are learned from, those that are validated on,
// and those that are kept for testing.
//
//   Examples examples = read_examples(config, {.read = …, .key = [](const Example& e) { return e.source; }});
//   examples.data[examples.training[0]].source;
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/data/datasets/dataset.h"

namespace fovea {

struct ExamplesConfig {
  std::vector<std::string> data, validation;
  int64_t hold_out = 5, test = 0, test_every = 0;
  int64_t validate_on = 500;
  bool strict = false;
  std::vector<std::string> names = {};  // as Dataset has them; a field of those tasks that have labels

  void fields(Fields& f) {
    f("data", data, "files of examples: plain, .gz or .zip; - is stdin");
    f("validation", validation, "files to validate on; without them a part of the data is held out");
    f("hold_out", hold_out, "percent of the data that is held out for validation, by CRC-32 of its text");
    f("test", test, "percent of the data that is kept for testing, by CRC-32 of its text");
    f("test_every", test_every, "keep every so manieth line of each file for testing; 0: none");
    f("validate_on", validate_on, "at most so many examples of the validation, evenly spread; 0: all");
    f("strict", strict, "stop at the first bad line instead of counting them");
  }
};

struct ExampleFormat {
  enum Files { data, validation };
  // Reads file `number` of those that the config names.
  std::function<void(Files files, size_t number, Dataset& into)> read;
  // The text whose CRC-32 decides on the part: the same text is always in the same one.
  std::function<std::string(const Example&)> key;
};

struct Examples {
  Dataset data;
  std::vector<int64_t> training, validation, test;  // numbers of examples in the data
};

void check(const ExamplesConfig&);  // an Error for values that make no sense

bool is_json(const std::string& path);  // by its name: .json, .jsonl, or these with .gz

Examples read_examples(const ExamplesConfig&, const ExampleFormat&);

}  // namespace fovea
