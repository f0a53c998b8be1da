// Translations of the parts of a text behind one another, with their tokens, scores and weights.
//
//   std::vector<Translation> whole = join({{.gap = "", .tokens = 4, .found = first}, {.gap = " ", .tokens = 3, .found = second}}, 1.0);
#pragma once

#include <optional>

#include "fovea/generate/translate.h"

namespace fovea {

struct JoinedPart {
  std::optional<std::string> gap;  // what stands before it; if not given a blank, where the language has blanks
  int64_t tokens;                  // of its source, the end not counted
  std::vector<Translation>
      found;  // best first; of a part with fewer than others the last stands for those that it lacks
};

// The k-th best is made of the k-th best of each part. Weights, if there are any, stand in one matrix: each part looked at its
// own tokens, and at an end that stands at the end of all.
std::vector<Translation> join(std::vector<JoinedPart> parts, double length_penalty);

// What stays as it is: each of these tokens of the text is made from itself. Their white space at both ends is left out.
Translation kept_translation(std::string_view text, const std::vector<Span>& tokens, bool attention);

}  // namespace fovea
