// Strings as Python's str sees them: code points, its white space, its lower case. The metrics equal Python packages to the
// last digit, and that begins here.
//
//   python::split(" a\u00a0b ");                       // {"a", "b"}: a no-break space is white space
//   python::lower("ΟΔΟΣ");                             // "οδος", with the final sigma
//
// Texts are UTF-8; a byte that is not is an Error that names it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::python {

std::vector<std::string_view> characters(std::string_view text);  // each code point
size_t length(std::string_view text);                             // how many of them
bool is_space(std::string_view character);                        // str.isspace of one code point
std::vector<std::string_view> split(std::string_view text);       // str.split()
std::string_view strip_right(std::string_view text);              // str.rstrip()
std::string lower(std::string_view text);                         // str.lower()
std::string replace(std::string_view text, std::string_view from, std::string_view to);  // str.replace(from, to)
std::string pad_left(std::string_view text, size_t width);                               // str.rjust(width)

}  // namespace fovea::python
