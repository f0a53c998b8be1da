#include "fovea/train/metrics/python_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "fovea/base/error.h"

namespace fovea::python {
namespace {

struct Character {
  int32_t code;  // -1: not UTF-8
  size_t bytes;
};

Character decode(std::string_view text, size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 0x80) return {*bytes, 1};
  utf8proc_int32_t code = -1;
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  return size > 0 ? Character{code, static_cast<size_t>(size)} : Character{-1, 0};
}

Character decode_or_throw(std::string_view text, size_t at) {
  const Character c = decode(text, at);
  if (c.code < 0) {
    throw Error(Error::invalid, "text: found the byte 0x{:02x} at {}, expected UTF-8",
                static_cast<unsigned char>(text[at]), at);
  }
  return c;
}

bool space(int32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

// Unicode's Final_Sigma asks whether a letter stands before the Σ and none behind it, looking past marks and apostrophes.
enum class Case { cased, ignorable, none };

Case case_of(int32_t c) {
  constexpr std::array<int32_t, 14> between_letters = {0x27,   0x2e,   0x3a,   0xb7,   0x387,  0x55f,  0x5f4,
                                                       0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55};
  constexpr std::array<int32_t, 3> full_width = {0xff07, 0xff0e, 0xff1a};
  if (std::count(between_letters.begin(), between_letters.end(), c) ||
      std::count(full_width.begin(), full_width.end(), c))
    return Case::ignorable;
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return Case::cased;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return Case::ignorable;
    default:
      return Case::none;
  }
}

bool is_final_sigma(const std::vector<int32_t>& codes, size_t at) {
  size_t before = at;
  while (before > 0 && case_of(codes[before - 1]) == Case::ignorable) --before;
  if (before == 0 || case_of(codes[before - 1]) != Case::cased) return false;
  size_t after = at + 1;
  while (after < codes.size() && case_of(codes[after]) == Case::ignorable) ++after;
  return after == codes.size() || case_of(codes[after]) != Case::cased;
}

void append(std::string& text, int32_t code) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(code, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

}  // namespace

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> found;
  found.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = decode_or_throw(text, at).bytes;
    found.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return found;
}

size_t length(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) at += decode_or_throw(text, at).bytes;
  return count;
}

bool is_space(std::string_view character) { return !character.empty() && space(decode_or_throw(character, 0).code); }

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0, at = 0;
  auto end_word = [&] {
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  };
  while (at < text.size()) {
    const Character c = decode_or_throw(text, at);
    if (space(c.code)) {
      end_word();
      begin = at + c.bytes;
    }
    at += c.bytes;
  }
  end_word();
  return words;
}

std::string_view strip_right(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = decode_or_throw(text, at);
    at += c.bytes;
    if (!space(c.code)) end = at;
  }
  return text.substr(0, end);
}

std::string lower(std::string_view text) {
  constexpr int32_t capital_sigma = 0x3a3, final_sigma = 0x3c2, capital_i_with_dot = 0x130, dot_above = 0x307;
  std::vector<int32_t> codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = decode_or_throw(text, at);
    codes.push_back(c.code);
    at += c.bytes;
  }
  std::string lowered;
  lowered.reserve(text.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == capital_sigma && is_final_sigma(codes, i)) {
      append(lowered, final_sigma);
    } else if (codes[i] == capital_i_with_dot) {
      append(lowered, 'i');
      append(lowered, dot_above);
    } else {
      append(lowered, utf8proc_tolower(codes[i]));
    }
  }
  return lowered;
}

std::string replace(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  for (;;) {
    const size_t at = text.find(from);
    replaced += text.substr(0, at);
    if (at == std::string_view::npos) return replaced;
    replaced += to;
    text.remove_prefix(at + from.size());
  }
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t used = length(text);
  return std::string(width > used ? width - used : 0, ' ').append(text);
}

}  // namespace fovea::python
