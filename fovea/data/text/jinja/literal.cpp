#include "fovea/data/text/jinja/literal.h"

#include <algorithm>
#include <charconv>

#include "fovea/data/text/utf8.h"

namespace fovea::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits of an escape, at most `most` of them; exactly so many in base 16.
char32_t escape_digits(std::string_view literal, size_t& at, size_t most, int base) {
  const std::string_view digits = literal.substr(std::min(at, literal.size()), most);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  const auto size = static_cast<size_t>(end - digits.data());
  if (error != std::errc() || (base == 16 && size != most))
    throw Fault(Error::invalid, "found an escape in a string with too few digits");
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    throw Fault(Error::invalid, "found an escape in a string that is no character: {:#x}", value);
  at += size;
  return value;
}

size_t digits_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '_' && end > at))) ++end;
  while (end > at && text[end - 1] == '_') --end;
  return end - at;
}

}  // namespace

std::string unescaped(std::string_view literal) {
  std::string result;
  for (size_t at = 0; at < literal.size();) {
    if (literal[at] != '\\' || at + 1 == literal.size()) {
      result += literal[at++];
      continue;
    }
    const char c = literal[at + 1];
    at += 2;
    constexpr std::string_view letters = "\\'\"abfnrtv", values = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t i = letters.find(c); i != letters.npos)
      result += values[i];
    else if (c == '\n')
      continue;
    else if (c == 'x')
      result += to_utf8(escape_digits(literal, at, 2, 16));
    else if (c == 'u')
      result += to_utf8(escape_digits(literal, at, 4, 16));
    else if (c == 'U')
      result += to_utf8(escape_digits(literal, at, 8, 16));
    else if (c >= '0' && c <= '7')
      result += to_utf8(escape_digits(literal, --at, 3, 8));
    else if (c == 'N')
      throw Fault(Error::unsupported, "found \\N in a string; write the character itself");
    else
      (result += '\\') += c;
  }
  return result;
}

NumberLiteral read_number(std::string_view text) {
  int base = 10;
  size_t begin = 0, end = 0;
  if (text.size() > 2 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
  }
  bool whole = true;
  if (base != 10) {
    for (begin = end = 2;
         end < text.size() && (std::isxdigit(static_cast<unsigned char>(text[end])) || text[end] == '_');)
      ++end;
  } else {
    end = digits_at(text, 0);
    if (end < text.size() && text[end] == '.' && digits_at(text, end + 1) > 0) {
      end += 1 + digits_at(text, end + 1);
      whole = false;
    }
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
      const size_t digits = end + 1 + (end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-'));
      if (const size_t size = digits_at(text, digits); size > 0) {
        end = digits + size;
        whole = false;
      }
    }
  }
  std::string digits(text.substr(begin, end - begin));
  std::erase(digits, '_');
  const char* last = digits.data() + digits.size();
  if (whole) {
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), last, value, base);
    return error == std::errc() && stop == last ? NumberLiteral{end, value} : NumberLiteral{};
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), last, value);
  return error == std::errc() && stop == last ? NumberLiteral{end, value} : NumberLiteral{};
}

}  // namespace fovea::jinja
