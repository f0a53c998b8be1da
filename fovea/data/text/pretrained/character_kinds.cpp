#include "fovea/data/text/pretrained/character_kinds.h"

#include <utf8proc.h>

#include <array>

namespace fovea {
namespace {

utf8proc_category_t category(char32_t value) { return utf8proc_category(static_cast<utf8proc_int32_t>(value)); }

struct ByteCharacters {
  std::array<char32_t, 256> characters{};
  std::array<int16_t, 0x144> bytes{};

  constexpr ByteCharacters() {
    for (auto& byte : bytes) byte = -1;
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool shown = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = shown ? byte : next++;
      bytes[characters[byte]] = static_cast<int16_t>(byte);
    }
  }
};
constexpr ByteCharacters byte_characters;

}  // namespace

bool is_white_space(char32_t value) {
  if (value < 0x80) return value == ' ' || (value >= '\t' && value <= '\r');
  return value == 0x85 || value == 0xA0 || value == 0x1680 || (value >= 0x2000 && value <= 0x200A) || value == 0x2028 ||
         value == 0x2029 || value == 0x202F || value == 0x205F || value == 0x3000;
}

bool is_punctuation(char32_t value) {
  if (value < 0x80)
    return (value >= '!' && value <= '/') || (value >= ':' && value <= '@') || (value >= '[' && value <= '`') ||
           (value >= '{' && value <= '~');
  const utf8proc_category_t found = category(value);
  return found >= UTF8PROC_CATEGORY_PC && found <= UTF8PROC_CATEGORY_PO;
}

bool is_number(char32_t value) {
  if (value < 0x80) return value >= '0' && value <= '9';
  const utf8proc_category_t found = category(value);
  return found >= UTF8PROC_CATEGORY_ND && found <= UTF8PROC_CATEGORY_NO;
}

bool is_nonspacing_mark(char32_t value) { return value >= 0x300 && category(value) == UTF8PROC_CATEGORY_MN; }

bool is_mark(char32_t value) {
  if (value < 0x300) return false;
  const utf8proc_category_t found = category(value);
  return found >= UTF8PROC_CATEGORY_MN && found <= UTF8PROC_CATEGORY_ME;
}

bool is_letter_of_word(char32_t value) {
  if (value < 0x80)
    return (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z') || (value >= '0' && value <= '9') ||
           value == '_';
  // Of category So, but letters: those in circles and squares.
  if ((value >= 0x24B6 && value <= 0x24E9) || (value >= 0x1F130 && value <= 0x1F149) ||
      (value >= 0x1F150 && value <= 0x1F169) || (value >= 0x1F170 && value <= 0x1F189))
    return true;
  if (value == 0x200C || value == 0x200D) return true;
  const utf8proc_category_t found = category(value);
  return (found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_NL) || found == UTF8PROC_CATEGORY_PC;
}

bool is_bert_control(char32_t value) {
  if (value < 0x80) return (value < 0x20 && value != '\t' && value != '\n' && value != '\r') || value == 0x7F;
  // Signs before Arabic and other digits, which its tables do not have.
  if (value == 0x890 || value == 0x891 || value == 0x8E2 || value == 0x110CD) return false;
  if (value >= 0x13430 && value <= 0x1343F) return false;
  const utf8proc_category_t found = category(value);
  return found == UTF8PROC_CATEGORY_CC || found == UTF8PROC_CATEGORY_CF || found == UTF8PROC_CATEGORY_CO;
}

bool is_chinese_character(char32_t value) {
  if (value < 0x3400) return false;
  return (value <= 0x4DBF) || (value >= 0x4E00 && value <= 0x9FFF) || (value >= 0xF900 && value <= 0xFAFF) ||
         (value >= 0x20000 && value <= 0x2A6DF) || (value >= 0x2A700 && value <= 0x2B81F) ||
         (value >= 0x2B920 && value <= 0x2CEAF) || (value >= 0x2F800 && value <= 0x2FA1F);
}

char32_t character_of_byte(unsigned char byte) { return byte_characters.characters[byte]; }

int byte_of_character(char32_t value) {
  return value < byte_characters.bytes.size() ? byte_characters.bytes[value] : -1;
}

}  // namespace fovea
