// SentencePiece's model files: pieces with their scores, and how texts are normalised. What its library believes without a check is
// checked here: the wire format, and the table of the normalisation.
//
//   SentencePieceFile file = check_sentencepiece_file(bytes, "spiece.model");   // file.model_type
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

struct StoredPiece {
  enum Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  std::string_view text;
  float score = 0;
  int64_t type = normal;
};

// Views into the bytes that were given.
struct SentencePieceFile {
  int64_t model_type = 1;    // TrainerSpec.ModelType: 1 unigram, 2 BPE, 3 words, 4 characters
  bool space_begins = true;  // a space becomes the beginning of the piece behind it, also before the first word
  std::vector<StoredPiece> pieces = {};
  std::string_view table = {};  // of the normalisation
  bool adds_space = true;       // before the text
  bool collapses_spaces = true, escapes_spaces = true, space_ends = false, byte_fallback = false;
};

// An Error of kind corrupt if the bytes are no protocol buffer, or if a search in a table would leave it.
SentencePieceFile check_sentencepiece_file(std::string_view bytes, std::string_view where);

// The library speaks of bytes of the original, but gives a piece the white space before it, and nothing to all but one of
// the pieces that come from one character: what a reader sees of such a piece.
Span visible_span(std::string_view text, Span span, std::string_view piece);

// The same for such a table alone, as tokenizer.json has it; an empty one is good.
void check_normalization_table(std::string_view table, std::string_view where);

}  // namespace fovea
