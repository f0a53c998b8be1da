// The part of a text that answers a question.
//
//   const std::vector<FoundAnswer> a = answer(*model, *tokenizer, "Who wrote it?", "It was written by Ada in 1843.");
//   a[0].text;   a[0].span;   a[0].probability;                          // "Ada", its bytes in the text
#pragma once

#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/models/abilities.h"

namespace fovea {

struct FoundAnswer {
  std::string text;
  Span span;
  double probability = 0;  // that it begins there times that it ends there, among the tokens of the text that was read
};

struct AnswerSearch {
  int64_t top = 1;
  int64_t longest = 15;    // tokens of an answer
  int64_t overlap = 128;   // tokens that two windows have in common, where a text is longer than the model reads
  Trace* trace = nullptr;  // what the model sees, window after window
};

// The best first; none for an empty text.
std::vector<FoundAnswer> answer(const AnswerFinder&, const Tokenizer&, const std::string& question,
                                const std::string& text, const AnswerSearch& = {});

}  // namespace fovea
