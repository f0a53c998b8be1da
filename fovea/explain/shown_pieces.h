// Tokens as they are shown to people.
//
//   shown_piece(tokenizer, "I ❤️ it", id, span);       // the bytes of the text, or else as the vocabulary spells it: "[CLS]"
#pragma once

#include <string>

#include "fovea/data/text/tokenizer.h"

namespace fovea {

// As the vocabulary spells it, without the mark that stands in the place of a space; valid UTF-8.
std::string shown_piece(const Tokenizer&, int64_t id);
std::string shown_piece(const Tokenizer&, const std::string& text, int64_t id, Span);

}  // namespace fovea
