#include "fovea/data/text/jinja/python_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "fovea/data/text/utf8.h"

namespace fovea::jinja {
namespace {

char32_t value_of(std::string_view character) {
  utf8proc_int32_t value = -1;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()),
                   static_cast<utf8proc_ssize_t>(character.size()), &value);
  return static_cast<char32_t>(value);
}

size_t size_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
  return end - at;
}

std::string_view last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (text[at] & 0xC0) == 0x80) --at;
  return text.substr(at);
}

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }
bool is_letter(char32_t c) { return category(c) >= UTF8PROC_CATEGORY_LU && category(c) <= UTF8PROC_CATEGORY_LO; }
bool is_cased(char32_t c) { return category(c) >= UTF8PROC_CATEGORY_LU && category(c) <= UTF8PROC_CATEGORY_LT; }

void append_upper(std::string& out, char32_t c) {
  if (c == U'ß')
    out += "SS";
  else
    out += to_utf8(static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
}
void append_lower(std::string& out, char32_t c) {
  out += to_utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}
void append_title(std::string& out, char32_t c) {
  if (c == U'ß')
    out += "Ss";
  else
    out += to_utf8(static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
}

Pieces split_at_spaces(Budget& budget, std::string_view text, int64_t most) {
  Pieces pieces;
  text = strip(text, Side::left);
  while (!text.empty()) {
    budget.items(1);
    if (most >= 0 && static_cast<int64_t>(pieces.size()) == most) {
      pieces.push_back(text);
      break;
    }
    size_t end = 0;
    while (end < text.size() && !is_python_space(value_of(text.substr(end, size_at(text, end)))))
      end += size_at(text, end);
    pieces.push_back(text.substr(0, end));
    text = strip(text.substr(end), Side::left);
  }
  return pieces;
}

Pieces split_at_spaces_from_right(Budget& budget, std::string_view text, int64_t most) {
  Pieces pieces;
  text = strip(text, Side::right);
  while (!text.empty()) {
    budget.items(1);
    if (most >= 0 && static_cast<int64_t>(pieces.size()) == most) {
      pieces.push_back(text);
      break;
    }
    size_t begin = text.size();
    while (begin > 0) {
      const std::string_view last = last_character(text.substr(0, begin));
      if (is_python_space(value_of(last))) break;
      begin -= last.size();
    }
    pieces.push_back(text.substr(begin));
    text = strip(text.substr(0, begin), Side::right);
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

bool is_python_space(char32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> result;
  for (size_t at = 0; at < text.size();) {
    result.push_back(text.substr(at, size_at(text, at)));
    at += result.back().size();
  }
  return result;
}

size_t character_count(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

size_t byte_of_character(std::string_view text, int64_t index) {
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += size_at(text, at);
  return at;
}

std::string_view strip(std::string_view text, Side side, std::optional<std::string_view> of) {
  if (of && of->size() > 1000)
    throw Fault(Error::invalid, "strip: found {} bytes of characters, expected a few", of->size());
  const auto goes = [&](std::string_view character) {
    return of ? of->find(character) != of->npos : is_python_space(value_of(character));
  };
  while (side != Side::right && !text.empty() && goes(text.substr(0, size_at(text, 0))))
    text.remove_prefix(size_at(text, 0));
  while (side != Side::left && !text.empty() && goes(last_character(text)))
    text.remove_suffix(last_character(text).size());
  return text;
}

Pieces split(Budget& budget, std::string_view text, std::optional<std::string_view> separator, int64_t most,
             Side from) {
  if (!separator)
    return from == Side::left ? split_at_spaces(budget, text, most) : split_at_spaces_from_right(budget, text, most);
  if (separator->empty()) throw Fault(Error::invalid, "split: found an empty separator");
  budget.search(text.size(), separator->size());
  Pieces pieces;
  while (most < 0 || static_cast<int64_t>(pieces.size()) < most) {
    const size_t at = from == Side::left ? text.find(*separator) : text.rfind(*separator);
    if (at == text.npos) break;
    budget.items(1);
    const std::string_view before = text.substr(0, at), behind = text.substr(at + separator->size());
    pieces.push_back(from == Side::left ? before : behind);
    text = from == Side::left ? behind : before;
  }
  pieces.push_back(text);
  if (from == Side::right) std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

Pieces split_lines(Budget& budget, std::string_view text, bool keep_ends) {
  Pieces lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t size = size_at(text, at);
    const char32_t c = value_of(text.substr(at, size));
    at += size;
    if (!ends_line(c)) continue;
    const size_t end = at - size;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    budget.items(1);
    lines.push_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string replace(Budget& budget, std::string_view text, std::string_view from, std::string_view to, int64_t most) {
  budget.search(text.size(), from.size());
  std::string result;
  const auto put = [&](std::string_view part) {
    budget.steps(1);
    budget.bytes(part.size());
    result += part;
  };
  int64_t done = 0;
  size_t at = 0;
  while (most < 0 || done < most) {
    const size_t found = from.empty() ? at : text.find(from, at);
    if (found == text.npos || found > text.size()) break;
    put(text.substr(at, found - at));
    put(to);
    ++done;
    at = found + from.size();
    if (!from.empty()) continue;
    if (at == text.size()) return result;
    put(text.substr(at, size_at(text, at)));  // an empty text is found before each character and at the end
    at += size_at(text, at);
  }
  put(text.substr(at));
  return result;
}

int64_t count(std::string_view text, std::string_view part) {
  if (part.empty()) return static_cast<int64_t>(character_count(text)) + 1;
  int64_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::string upper(std::string_view text) {
  std::string result;
  for (std::string_view c : characters(text)) append_upper(result, value_of(c));
  return result;
}

std::string lower(std::string_view text) {
  std::string result;
  for (std::string_view c : characters(text)) append_lower(result, value_of(c));
  return result;
}

std::string capitalize(std::string_view text) {
  std::string result;
  for (std::string_view c : characters(text)) {
    if (c.data() == text.data())
      append_title(result, value_of(c));
    else
      append_lower(result, value_of(c));
  }
  return result;
}

std::string title(std::string_view text) {
  std::string result;
  bool inside = false;
  for (std::string_view c : characters(text)) {
    if (inside)
      append_lower(result, value_of(c));
    else
      append_title(result, value_of(c));
    inside = is_cased(value_of(c));
  }
  return result;
}

std::string jinja_title(std::string_view text) {
  std::string result;
  bool inside = false;
  for (std::string_view c : characters(text)) {
    const char32_t value = value_of(c);
    const bool between =
        is_python_space(value) || std::u32string_view(U"-({[<").find(value) != std::u32string_view::npos;
    if (inside)
      append_lower(result, value);
    else
      append_upper(result, value);
    inside = !between;
  }
  return result;
}

bool all_of_class(std::string_view text, CharacterClass which) {
  bool any = false;
  for (std::string_view character : characters(text)) {
    const char32_t c = value_of(character);
    const bool digit = category(c) == UTF8PROC_CATEGORY_ND;
    switch (which) {
      case CharacterClass::alphabetic:
        any = is_letter(c);
        break;
      case CharacterClass::digit:
        any = digit;
        break;
      case CharacterClass::alphanumeric:
        any = is_letter(c) || digit;
        break;
      case CharacterClass::space:
        any = is_python_space(c);
        break;
      case CharacterClass::upper:
      case CharacterClass::lower: {
        const bool up = category(c) == UTF8PROC_CATEGORY_LU || category(c) == UTF8PROC_CATEGORY_LT;
        if (!is_cased(c)) continue;
        if (up != (which == CharacterClass::upper)) return false;
        any = true;
        continue;
      }
    }
    if (!any) return false;
  }
  return any;
}

}  // namespace fovea::jinja
