#include "fovea/generate/letter_case.h"

#include <utf8proc.h>

namespace fovea {
namespace {

bool is_upper(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LU; }
bool is_lower(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LL; }

std::string capital_of(const CodePoint& c, std::string_view text) {
  if (c.value == U'ß') return "SS";
  std::string capital = to_utf8(static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c.value))));
  const std::string_view small = piece_of(text, c.span);
  return capital.size() == small.size() ? capital : std::string(small);
}

}  // namespace

Letters letters_in(std::string_view text) {
  Letters letters;
  for (const CodePoint& c : code_points(text)) letters.upper += is_upper(c.value), letters.lower += is_lower(c.value);
  return letters;
}

std::string in_capitals(std::string_view text) {
  std::string result;
  for (const CodePoint& c : code_points(text)) result += capital_of(c, text);
  return result;
}

std::string with_first_capital(std::string_view text) {
  const std::vector<CodePoint> points = code_points(text);
  if (points.empty() || points[0].value == U'ß') return std::string(text);
  return capital_of(points[0], text) + std::string(text.substr(static_cast<size_t>(points[0].span.end)));
}

int64_t pieces_in(const Tokenizer& tokenizer, std::string_view word) {
  constexpr int64_t unknown = 10;
  int64_t pieces = 0;
  for (int64_t id : tokenizer.encode(word).ids) pieces += id == tokenizer.special().unk ? unknown : 1;
  return pieces;
}

std::string usual_case(const Tokenizer& tokenizer, std::string_view word) {
  std::string best = lower_case(word);
  int64_t fewest = pieces_in(tokenizer, best);
  const auto try_it = [&](std::string other) {
    if (const int64_t pieces = pieces_in(tokenizer, other); pieces < fewest) fewest = pieces, best = std::move(other);
  };
  const std::string small = best;
  try_it(with_first_capital(small));
  if (const size_t ss = small.find("ss"); ss != small.npos) {
    const std::string sharp = small.substr(0, ss) + "ß" + small.substr(ss + 2);
    try_it(sharp);
    try_it(with_first_capital(sharp));
  }
  return best;
}

}  // namespace fovea
