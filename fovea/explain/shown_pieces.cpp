#include "fovea/explain/shown_pieces.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/text.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

// A piece without the mark that SentencePiece, or a byte-level vocabulary, puts in the place of a space.
std::string without_space_mark(std::string piece) {
  for (const std::string_view mark : {"▁", "Ġ"})
    if (piece.size() > mark.size() && piece.starts_with(mark)) piece.erase(0, mark.size());
  return piece;
}

// Bytes that are no character by themselves, as an emoji's tokens may be, are written by their numbers.
std::string readable(std::string_view bytes) {
  if (invalid_utf8(bytes) == std::string_view::npos) return std::string(bytes);
  std::string text;
  for (const char byte : bytes) text += fmt::format("<{:02X}>", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

// A byte-level vocabulary spells what is not ASCII with letters that mean bytes: there it is what they stand for that is shown.
std::string shown_piece(const Tokenizer& tokenizer, int64_t id) {
  const std::string piece = without_space_mark(tokenizer.piece(id));
  if (std::all_of(piece.begin(), piece.end(), [](char c) { return static_cast<unsigned char>(c) < 128; })) return piece;
  const std::string meant = tokenizer.decode({&id, 1});
  if (!meant.empty() && meant.find_first_not_of("\n") == std::string::npos) return "⏎";
  const bool whole = invalid_utf8(meant) == std::string_view::npos && meant.find("\uFFFD") == std::string::npos;
  return whole && !trim(meant).empty() ? std::string(trim(meant)) : readable(piece);
}

std::string shown_piece(const Tokenizer& tokenizer, const std::string& text, int64_t id, Span span) {
  const std::string piece = readable(piece_of(text, span));
  return piece.empty() ? shown_piece(tokenizer, id) : piece;
}

}  // namespace fovea
