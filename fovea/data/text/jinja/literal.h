// Python's literals: escapes within a string, and numbers.
//
//   unescaped("a\\n")                     // "a" and a line end
//   read_number("0x10 + 1").value         // 16; size is 4
#pragma once

#include <string>
#include <string_view>

#include "fovea/data/text/jinja/value.h"

namespace fovea::jinja {

std::string unescaped(std::string_view literal);  // without its quotes

struct NumberLiteral {
  size_t size = 0;  // 0: not a number of 64 bits
  Value value;
};
NumberLiteral read_number(std::string_view text);  // that begins with a digit

}  // namespace fovea::jinja
