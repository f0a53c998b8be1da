// Where a text is cut that a model does not read as a whole.
//
//   for (auto [begin, end] : pieces_of(text, tokens.spans, {.most = 40, .sentences = true})) …     // ranges of its tokens
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

struct Cutting {
  int64_t most = 0;        // tokens of a piece; 0: any number
  bool sentences = false;  // each sentence is a piece, or several; otherwise as many sentences as fit
};

// A sentence that is too long by itself is cut behind a clause, or else in the gap before a word, and a word anywhere.
std::vector<std::pair<size_t, size_t>> pieces_of(std::string_view text, const std::vector<Span>& tokens,
                                                 const Cutting& cutting);

}  // namespace fovea
