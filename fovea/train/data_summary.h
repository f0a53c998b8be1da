// What was read, for people: how many examples, which columns, what was passed over and why, the labels, the lengths, and how
// they were divided.
//
//   const DataSummary summary = summarise(read_examples(config, format));
//   say(summary.text());                               // a few lines
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/train/examples.h"

namespace fovea {

struct Lengths {
  std::string of, unit;  // "text" in "characters"; "sentence" in "words"
  double mean = 0;
  int64_t longest = 0;
};

struct DataSummary {
  std::vector<FileRead> files;
  BadLines bad;
  int64_t examples = 0, duplicates = 0;                 // duplicates: equal to an earlier one
  std::vector<std::pair<std::string, int64_t>> labels;  // most frequent first; of tagged words the kinds of entities
  int64_t unlabelled = 0;                               // label_sets: examples without any; tagged: without an entity
  // If every label is a number and there are more than a few: their range, instead of a list in the text.
  std::optional<std::pair<double, double>> numbers;
  std::vector<Lengths> lengths;
  int64_t training = 0, validation = 0, held_out = 0, test = 0;  // validation: those of held_out that are used
  std::string division;                                          // by what rule
  std::vector<std::string> hints;  // what looks like a mistake, as a header that was taken for an example

  std::string text() const;  // lines without an end of line behind the last
};

DataSummary summarise(const Examples& examples);

}  // namespace fovea
