#include <utf8proc.h>

#include <array>

#include "fovea/data/text/pretrained/character_kinds.h"
#include "fovea/data/text/pretrained/pre_tokenizer.h"

namespace fovea {

const std::string_view gpt2_pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

namespace {

enum class Kind : uint8_t { space, letter, number, other };

Kind slow_kind(char32_t value) {
  if (is_white_space(value)) return Kind::space;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(value));
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return Kind::letter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return Kind::number;
  return Kind::other;
}

constexpr std::array<Kind, 128> ascii_kinds = [] {
  std::array<Kind, 128> kinds{};
  for (unsigned c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    kinds[c] = c == ' ' || (c >= '\t' && c <= '\r') ? Kind::space
               : letter                             ? Kind::letter
               : c >= '0' && c <= '9'               ? Kind::number
                                                    : Kind::other;
  }
  return kinds;
}();

struct Seen {
  Kind kind;
  uint32_t size;
};
Seen seen_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 128) return {ascii_kinds[byte], 1};
  const auto [value, size] = character_at(text, at);
  return {slow_kind(value), size};
}

size_t contraction(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at + 1, 2);
  if (rest.empty()) return 0;
  if (rest[0] == 's' || rest[0] == 't' || rest[0] == 'm' || rest[0] == 'd') return 2;
  return rest == "re" || rest == "ve" || rest == "ll" ? 3 : 0;
}

}  // namespace

size_t end_of_gpt2_word(std::string_view text, size_t begin) {
  if (text[begin] == '\'') {
    if (const size_t size = contraction(text, begin)) return begin + size;
  }
  size_t at = begin;
  Seen first = seen_at(text, at);
  if (text[at] == ' ' && at + 1 < text.size()) {
    const Seen second = seen_at(text, at + 1);
    if (second.kind != Kind::space) ++at, first = second;
  }
  size_t last = at;
  const Kind kind = first.kind;
  for (Seen seen = first; seen.kind == kind;) {
    last = at;
    at += seen.size;
    if (at == text.size()) return at;
    seen = seen_at(text, at);
  }
  // The last of several spaces belongs to what follows.
  return kind == Kind::space && last > begin ? last : at;
}

}  // namespace fovea
