#include "fovea/data/text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "fovea/base/error.h"

namespace fovea {
namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

std::string mapped_part(std::string_view text, int options) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(bytes_of(text), static_cast<utf8proc_ssize_t>(text.size()), &result,
                                             static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
  std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
  if (size < 0) throw Error(Error::corrupt, "normalisation: {}", utf8proc_errmsg(size));
  return {reinterpret_cast<const char*>(result), static_cast<size_t>(size)};
}

// utf8proc sorts the marks on a letter in quadratic time, so that it gets at most some thousand bytes at once: cut before an
// ASCII character, which joins with nothing before it, or in a text without one before any character.
std::string mapped(std::string_view text, int options) {
  constexpr size_t longest = 4096;
  std::string result;
  while (text.size() > longest) {
    size_t end = longest;
    while (end > 0 && static_cast<unsigned char>(text[end]) >= 0x80) --end;
    if (end == 0) end = longest;
    while (end > 1 && (text[end] & 0xC0) == 0x80) --end;
    result += mapped_part(text.substr(0, end), options);
    text.remove_prefix(end);
  }
  return text.empty() ? result : result + mapped_part(text, options);
}

}  // namespace

std::vector<CodePoint> code_points(std::string_view text) {
  std::vector<CodePoint> points;
  points.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t value = 0;
    const auto size = utf8proc_iterate(bytes_of(text) + at, static_cast<utf8proc_ssize_t>(text.size() - at), &value);
    if (size <= 0) check_utf8(text, "text");
    const auto begin = static_cast<int64_t>(at);
    points.push_back({static_cast<char32_t>(value), {begin, begin + size}});
    at += static_cast<size_t>(size);
  }
  return points;
}

std::string to_utf8(char32_t value) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(value), bytes);
  require(size > 0, "to_utf8: found {:#x}, expected a code point", static_cast<uint32_t>(value));
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)};
}

bool is_space(char32_t value) {
  if (value < 0x80) return value == ' ' || (value >= '\t' && value <= '\r');
  if (value == 0x85 || value == 0x200B || value == 0xFEFF) return true;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(value));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool is_word_character(char32_t value) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(value));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

std::string nfc(std::string_view text) { return mapped(text, UTF8PROC_COMPOSE); }
std::string nfkc(std::string_view text) { return mapped(text, UTF8PROC_COMPOSE | UTF8PROC_COMPAT); }

std::string lower_case(std::string_view text) {
  std::string result;
  for (const CodePoint& c : code_points(text)) {
    result += to_utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.value))));
  }
  return result;
}

Span without_spaces(std::string_view text, Span span) {
  const auto value_at = [&](int64_t begin, int64_t end) {
    utf8proc_int32_t value = -1;
    utf8proc_iterate(bytes_of(text) + begin, end - begin, &value);
    return static_cast<char32_t>(value);
  };
  const auto size_at = [&](int64_t at) {
    return std::max<int64_t>(utf8proc_utf8class[static_cast<unsigned char>(text[static_cast<size_t>(at)])], 1);
  };
  while (span.size() > 0 && is_space(value_at(span.begin, span.end))) span.begin += size_at(span.begin);
  while (span.size() > 0) {
    int64_t last = span.end - 1;
    while (last > span.begin && (text[static_cast<size_t>(last)] & 0xC0) == 0x80) --last;
    if (!is_space(value_at(last, span.end))) break;
    span.end = last;
  }
  return span;
}

std::string_view trim(std::string_view text) {
  const auto space = [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && is_space(static_cast<unsigned char>(c));
  };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace fovea
