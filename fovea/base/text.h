// Texts from outside: whether they are UTF-8, and how they may be shown.
//
//   check_utf8(line, "pairs.tsv:17");                  // or an Error: "pairs.tsv:17: byte 4: found 0xff, expected UTF-8"
//   printable("red\x1b[31m\n")                         // "red\x1b[31m\n" with the backslashes spelled out
#pragma once

#include <string>
#include <string_view>

namespace fovea {

// The offset of the first byte that is not UTF-8 (overlong forms and surrogates are not), or std::string_view::npos.
size_t invalid_utf8(std::string_view text);
// An Error of kind corrupt that names `where`, the byte's offset from 0 and, in a text of several lines, its line from 1.
void check_utf8(std::string_view text, std::string_view where);

// One line that a terminal can be given: control characters, escape codes and bytes that are not UTF-8 as \n, \t, \x1b.
std::string printable(std::string_view text);

}  // namespace fovea
