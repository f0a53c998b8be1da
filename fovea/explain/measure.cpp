#include "fovea/explain/measure.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

constexpr char32_t unreadable = 0xFFFD;

// Hundredths of the size, from the space to the tilde.
constexpr unsigned char regular[] = {32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37,  32, 34, 64, 64, 64,
                                     64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64,
                                     58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64,  62, 74, 69, 99, 69,
                                     62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36,  64, 64, 28, 28, 58,
                                     28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60,  53, 64, 34, 64, 84};
constexpr unsigned char bold[] = {35, 46,  53, 84, 70, 101, 88, 31,  46, 46, 53, 84, 38, 42,  38, 37, 70, 70,  70,
                                  70, 70,  70, 70, 70, 70,  70, 40,  40, 84, 84, 84, 59, 100, 78, 77, 74, 84,  69,
                                  69, 83,  84, 38, 38, 78,  64, 100, 84, 86, 74, 86, 78, 73,  69, 82, 78, 111, 78,
                                  73, 73,  46, 37, 46, 84,  50, 50,  68, 72, 60, 72, 68, 44,  72, 72, 35, 35,  67,
                                  35, 105, 72, 69, 72, 72,  50, 60,  48, 72, 66, 93, 65, 66,  59, 72, 37, 72,  84};
static_assert(std::size(regular) == 95 && std::size(bold) == 95);

// The character at a byte and where the next one begins; a byte that begins none is unreadable by itself.
char32_t next_character(std::string_view text, size_t& at) {
  utf8proc_int32_t value = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &value);
  at += size > 0 ? static_cast<size_t>(size) : 1;
  if (size <= 0) return unreadable;
  if (value == '\t' || value == '\n' || value == '\r' || value == 0x2028 || value == 0x2029) return ' ';
  return utf8proc_category(value) == UTF8PROC_CATEGORY_CC ? unreadable : static_cast<char32_t>(value);
}

// The letter below its accents: é as e.
char32_t base_of(char32_t value) {
  utf8proc_int32_t parts[8];
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(value), parts, std::size(parts),
                                                         UTF8PROC_DECOMPOSE, &boundary);
  return count > 0 && count <= static_cast<utf8proc_ssize_t>(std::size(parts)) ? static_cast<char32_t>(parts[0])
                                                                               : value;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) result += to_utf8(next_character(text, at));
  return result;
}

std::vector<std::string> with_marks(std::string_view text) {
  std::vector<std::string> result;
  for (size_t at = 0; at < text.size();) {
    const char32_t value = next_character(text, at);
    if (result.empty() || utf8proc_charwidth(static_cast<utf8proc_int32_t>(value)) > 0) result.emplace_back();
    result.back() += to_utf8(value);
  }
  return result;
}

double Measure::width(char32_t value) const {
  const int cells = utf8proc_charwidth(static_cast<utf8proc_int32_t>(value));
  if (size_ == 0 || cells == 0) return cells;
  if (cells > 1) return size_ * (value >= 0x1F000 ? 1.25 : 1);
  const char32_t base = value < 0x7F ? value : base_of(value);
  if (base >= ' ' && base < 0x7F) return size_ * (bold_ ? bold : regular)[base - ' '] / 100;
  return size_ * (base == U'…' || base == U'—' ? 1 : bold_ ? 0.9 : 0.8);
}

double Measure::operator()(std::string_view text) const {
  double sum = 0;
  for (size_t at = 0; at < text.size();) sum += width(next_character(text, at));
  return sum;
}

double Measure::widest(const std::vector<std::string>& texts) const {
  double most = 0;
  for (const std::string& text : texts) most = std::max(most, (*this)(text));
  return most;
}

Span Measure::line_of(std::string_view text, double most) const {
  double sum = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    sum += width(next_character(text, at));
    if (sum > most + 1e-9) return {0, static_cast<int64_t>(begin)};
  }
  return {0, static_cast<int64_t>(text.size())};
}

std::string Measure::shortened(std::string_view text, double most) const {
  if (line_of(text, most).size() == static_cast<int64_t>(text.size())) return visible(text);
  if (width(U'…') > most) return {};
  return visible(piece_of(text, line_of(text, most - width(U'…')))) + "…";
}

std::vector<std::string> Measure::wrapped(std::string_view text, double most, size_t lines) const {
  const std::string whole = visible(text);
  std::string_view rest = whole;
  std::vector<std::string> result;
  while (result.size() + 1 < lines) {
    const auto fits = static_cast<size_t>(line_of(rest, most).size());
    if (fits == rest.size()) break;
    if (fits == 0) break;
    size_t end = rest[fits] == ' ' ? fits : rest.substr(0, fits).rfind(' ');
    if (end == std::string_view::npos || end == 0) end = fits;
    result.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  result.push_back(shortened(rest, most));
  return result;
}

int cells(std::string_view text) { return static_cast<int>(Measure::cells()(text)); }

std::string padded(std::string_view text, int width, bool right) {
  const std::string spaces(static_cast<size_t>(std::max(0, width - cells(text))), ' ');
  return right ? spaces + visible(text) : visible(text) + spaces;
}

}  // namespace fovea
