// UTF-8: code points, and Unicode's normal forms (through utf8proc). Validation stands in base/text.h.
//
//   for (CodePoint c : code_points("naïve")) …         // c.value, and the bytes [c.span.begin, c.span.end) it came from
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/text.h"

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
