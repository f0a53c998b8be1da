// Python's str by code points: what its methods do, on valid UTF-8.
//
//   strip("  a ")                          // "a"
//   split("a, b", ", ", -1)                // {"a", "b"}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/jinja/budget.h"

namespace fovea::jinja {

bool is_python_space(char32_t c);  // str.isspace
std::vector<std::string_view> characters(std::string_view text);
size_t character_count(std::string_view text);
size_t byte_of_character(std::string_view text, int64_t index);  // the end of the text if it has fewer

enum class Side { left, right, both };
// Without the white space, or the characters of `of`, at one or both ends.
std::string_view strip(std::string_view text, Side side = Side::both, std::optional<std::string_view> of = {});

// At white space if there is no separator; at most `most` times, from the right if so said; -1 is without bound.
using Pieces = std::vector<std::string_view>;
Pieces split(Budget& budget, std::string_view text, std::optional<std::string_view> separator, int64_t most,
             Side from = Side::left);
Pieces split_lines(Budget& budget, std::string_view text, bool keep_ends);

std::string replace(Budget& budget, std::string_view text, std::string_view from, std::string_view to, int64_t most);
int64_t count(std::string_view text, std::string_view part);

// Case by Unicode's one-to-one mappings, and ß to SS.
std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalize(std::string_view text);
std::string title(std::string_view text);        // str.title: after anything but a letter
std::string jinja_title(std::string_view text);  // Jinja's filter: after white space and -({[<

enum class CharacterClass { alphabetic, digit, alphanumeric, space, upper, lower };
bool all_of_class(std::string_view text, CharacterClass which);  // str.isalpha, isdigit, …; false for an empty text

}  // namespace fovea::jinja
