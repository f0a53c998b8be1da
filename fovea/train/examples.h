// The examples of a training: read from files, and divided into those that are learned from, those that are validated on,
// and those that are kept for testing.
//
//   Examples examples = read_examples(config, {.kind = ExampleKind::labelled, .columns = {.label = "stars"}});
//   examples.data[examples.training[0]].source;
#pragma once

#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/data/datasets/files.h"

namespace fovea {

struct ExamplesConfig {
  std::vector<std::string> data = {}, validation = {};
  int64_t hold_out = 5, test = 0, test_every = 0;
  int64_t validate_on = 500;
  std::string header = "auto";
  bool strict = false;

  void fields(Fields& f) {
    f("data", data,
      "files of examples: CSV, TSV, JSON lines, CoNLL columns, plain text, or a.en a.de; plain, .gz or .zip; - is "
      "stdin; pictures: a folder with one for each label, IDX or CIFAR files");
    f("validation", validation, "files to validate on; without them a part of the data is held out");
    f("hold_out", hold_out,
      "percent of the data that is held out for validation, by CRC-32 of its text; of a file that is one text its end");
    f("test", test, "percent of the data that is kept for testing, likewise");
    f("test_every", test_every, "keep every so manieth line of each file for testing; 0: none");
    f("validate_on", validate_on, "at most so many examples of the validation, evenly spread; 0: all");
    f("header", header, "whether the first row of a table names its columns: yes, no, or auto (if it does)");
    f("strict", strict, "stop at the first bad line instead of counting them");
  }
};

struct ExampleFormat {
  ExampleKind kind = ExampleKind::pairs;
  Columns columns = Columns();
  std::vector<std::string> names = {};  // other names for labels, as Dataset has them
  bool learns_labels = false;           // of which each must be among what is learned from
};

struct Examples {
  Dataset data;
  std::vector<int64_t> training, validation, test;  // numbers of examples in the data
  int64_t held_out = 0;                             // for validation, of which validate_on are used
  ExampleKind kind = ExampleKind::pairs;
  std::string division;  // for the user: by what rule they were divided
};

void check(const ExamplesConfig&);  // an Error for values that make no sense

// The CRC-32 of an example's text (of a pair the source, of two texts both, of tagged words these with spaces between) decides on
// its part, so that the same text is never in two. Of the texts with some label never all are held out: the first one is learned
// from. If the data is so small that nothing would be held out, the text whose CRC-32 is the next one is. Of a file that is one
// document the last part is kept for testing, and what stands before it for validation.
Examples read_examples(const ExamplesConfig&, const ExampleFormat&);

}  // namespace fovea
