#include "fovea/base/text.h"

#include <utf8proc.h>

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// The bytes of the character that begins the text, or 0 if it is not UTF-8.
size_t first_character(std::string_view text, int32_t& value) {
  const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                     static_cast<utf8proc_ssize_t>(text.size()), &value);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

// C0, DEL and C1 controls, and what ends a line or turns the direction of writing round.
bool is_control(int32_t value) {
  return value < 0x20 || (value >= 0x7f && value < 0xa0) || (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069);
}

std::string escaped(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\r") return "\\r";
  if (bytes == "\t") return "\\t";
  std::string text;
  for (const char byte : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

size_t invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    int32_t value;
    const size_t size = first_character(text.substr(at), value);
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

void check_utf8(std::string_view text, std::string_view where) {
  const size_t at = invalid_utf8(text);
  if (at == std::string_view::npos) return;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const auto byte = static_cast<unsigned>(static_cast<unsigned char>(text[at]));
  const bool one_line = text.find('\n') == std::string_view::npos;
  throw Error(Error::corrupt, "{}: byte {}{}: found 0x{:02x}, expected UTF-8; iconv -f LATIN1 -t UTF-8 converts a text",
              where, at, one_line ? "" : fmt::format(" (line {})", line), byte);
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    int32_t value = 0;
    const size_t size = first_character(text, value);
    const std::string_view character = text.substr(0, std::max<size_t>(size, 1));
    shown += size == 0 || is_control(value) ? escaped(character) : std::string(character);
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace fovea
