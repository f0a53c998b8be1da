// Whether a translator can read a text at all: it knows a letter by a piece of its own, not as bytes that any text has.
//
//   knows_a_letter(tokenizer, "これは 12", tokenizer.encode("これは 12"))       // false for a vocabulary of English and German
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace fovea {

bool knows_a_letter(const Tokenizer&, std::string_view text, const Tokens& tokens);  // digits are no letters

}  // namespace fovea
