// UTF-8: validation that names the byte, code points, and Unicode's normal forms (through utf8proc).
//
//   check_utf8(line, "pairs.tsv:17");                  // or an Error: "pairs.tsv:17: byte 4: found 0xff, expected UTF-8"
//   for (CodePoint c : code_points("naïve")) …         // c.value, and the bytes [c.span.begin, c.span.end) it came from
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Bytes [begin, end) of a text.
struct Span {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Span&) const = default;
};

inline std::string_view piece_of(std::string_view text, Span span) {
  return text.substr(static_cast<size_t>(span.begin), static_cast<size_t>(span.size()));
}

struct CodePoint {
  char32_t value = 0;
  Span span;
};

// The offset of the first byte that is not UTF-8 (overlong forms and surrogates are not), or std::string_view::npos.
size_t invalid_utf8(std::string_view text);
// An Error of kind corrupt that names `where`, the byte's offset from 0 and, in a text of several lines, its line from 1.
void check_utf8(std::string_view text, std::string_view where);

std::vector<CodePoint> code_points(std::string_view text);  // of a valid text; an Error otherwise
std::string to_utf8(char32_t value);
bool is_space(char32_t value);           // Unicode's white space, no-break spaces and control characters of layout
bool is_word_character(char32_t value);  // letters, marks and numbers

// Canonical and compatibility composition; lower case of each code point by itself.
std::string nfc(std::string_view text);
std::string nfkc(std::string_view text);
std::string lower_case(std::string_view text);

Span without_spaces(std::string_view text, Span span);  // of a valid text; without is_space at both ends
std::string_view trim(std::string_view text);           // without the ASCII white space at both ends

}  // namespace fovea
