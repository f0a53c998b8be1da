#include "fovea/generate/known_letters.h"

namespace fovea {
namespace {

// Several tokens with the span of one character are its bytes.
bool is_a_byte(const std::vector<Span>& spans, size_t i) {
  return spans[i].size() > 1 &&
         ((i > 0 && spans[i - 1] == spans[i]) || (i + 1 < spans.size() && spans[i + 1] == spans[i]));
}

}  // namespace

bool knows_a_letter(const Tokenizer& tokenizer, std::string_view text, const Tokens& tokens) {
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.ids[i] == tokenizer.special().unk || is_a_byte(tokens.spans, i)) continue;
    const std::string_view piece = piece_of(text, tokens.spans[i]);
    if (invalid_utf8(piece) != std::string_view::npos) return true;  // a vocabulary of bytes alone knows them all
    for (const CodePoint& c : code_points(piece))
      if (is_word_character(c.value) && (c.value < U'0' || c.value > U'9')) return true;
  }
  return false;
}

}  // namespace fovea
