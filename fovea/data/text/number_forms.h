// Numbers, amounts, dates and times of one language in the form of another.
//
//   number_forms("It costs $1,299.99 on March 5, 2024.", "en", "de");   // "1.299,99 $" and "5. März 2024", with their bytes
//
// Numbers that have the same form in both are named, too; of those of one or two digits also their words are accepted. Known are en
// and de; of others there is nothing to be said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

struct NumberForm {
  enum Kind { number, amount, date, time, decade };
  Kind kind;
  Span span;                          // of the text
  std::string text;                   // in the other language
  std::vector<std::string> accepted;  // other forms that say the same, as half past nine does
  std::string plain = {};             // in digits, where the text has words; in the text's language
};

bool knows_numbers(std::string_view language);

std::vector<NumberForm> number_forms(std::string_view text, std::string_view from, std::string_view to);

}  // namespace fovea
