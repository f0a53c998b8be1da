// Kinds of characters as the tokenizers of pretrained models tell them apart. They differ from one library to the next.
//
//   is_white_space(U'\u00a0')                          // Unicode's property White_Space
//   is_punctuation(U'$')                               // ASCII's marks, and Unicode's category P
#pragma once

#include <cstdint>
#include <string_view>

namespace fovea {

bool is_white_space(char32_t value);
bool is_punctuation(char32_t value);
bool is_number(char32_t value);           // category N
bool is_nonspacing_mark(char32_t value);  // category Mn
bool is_mark(char32_t value);             // category M
bool is_letter_of_word(char32_t value);   // \w: letters, marks, decimal digits, connectors, joiners
bool is_bert_control(
    char32_t value);  // what BERT's normalisation takes out: categories Cc, Cf and Co, but no \t, \n, \r
bool is_chinese_character(char32_t value);  // CJK ideographs, as BERT's normalisation lists them

// The character of a valid text that begins at `at`, and its size in bytes.
struct Decoded {
  char32_t value;
  uint32_t size;
};
inline Decoded character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {(first & 0x1Fu) << 6 | (byte(1) & 0x3Fu), 2};
  if (first < 0xF0) return {(first & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu), 3};
  return {(first & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu), 4};
}
inline bool begins_character(char byte) { return (byte & 0xC0) != 0x80; }

// The characters that stand for bytes in byte-level vocabularies (GPT-2): a printable one stands for itself, the others
// for the characters from U+0100 on.
char32_t character_of_byte(unsigned char byte);
int byte_of_character(char32_t value);  // −1 if it stands for none

}  // namespace fovea
