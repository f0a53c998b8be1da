// What may stand where a text has a mask.
//
//   const Filled f = fill(*model, *tokenizer, {"The capital of France is [MASK]."})[0];
//   f.gaps[0].choices[0].token;   f.gaps[0].choices[0].probability;      // "paris", 0.42
#pragma once

#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/models/abilities.h"

namespace fovea {

struct Choice {
  std::string token;  // as it reads in a text
  double probability = 0;
  std::string text;  // the whole text with it in the gap
};

struct Gap {
  Span span;  // of the mask in the text
  std::vector<Choice> choices;
};

struct Filled {
  std::string text;  // with the mask as the model's tokenizer writes it
  std::vector<Gap> gaps;
};

// A mask may be written as the tokenizer has it, or as [MASK] or <mask>. An Error for a text without one.
std::vector<Filled> fill(const GapFiller&, const Tokenizer&, const std::vector<std::string>& texts, int64_t top = 5,
                         Trace* trace = nullptr);

}  // namespace fovea
