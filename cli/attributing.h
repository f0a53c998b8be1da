// `explain --method` and `explain --check`: which words an answer comes from, and whether that is true.
//
//   if (o.words.wanted()) return attribute_texts(o, o.words, data, html);
#pragma once

#include <string>
#include <vector>

#include "cli/answers.h"

namespace fovea {

struct AttributeOptions {
  std::string method, answer, erase = "replace";
  bool check = false;
  int64_t steps = 32;

  void fields(Fields& f);
  bool wanted() const { return !method.empty() || check; }
};

// Text by text the words' scores; with `check` the table of how true they are, of all texts together.
void attribute_texts(const AnswerOptions&, const AttributeOptions&, const std::vector<std::string>& data,
                     const std::string& html);

}  // namespace fovea
