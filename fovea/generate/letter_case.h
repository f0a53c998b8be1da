// Capitals and small letters of words as a model knows them.
//
//   usual_case(tokenizer, "BERLIN");                   // "Berlin": the vocabulary spells it with the fewest pieces
//   in_capitals("große Tür");                          // "GROSSE TÜR", each letter in as many bytes
#pragma once

#include <string>
#include <string_view>

#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct Letters {
  int64_t upper = 0, lower = 0;
};
Letters letters_in(std::string_view text);

std::string in_capitals(std::string_view text);
std::string with_first_capital(std::string_view text);  // the rest as it is

// Small letters, with a capital first if the vocabulary knows the word better so; "ss" is "ß" where that is known better.
std::string usual_case(const Tokenizer&, std::string_view word);
int64_t pieces_in(const Tokenizer&, std::string_view word);  // an unknown one counts as many

}  // namespace fovea
