// What the SentencePiece library believes without a check: the wire format of its model files, as far as the kind of the
// model and the table of its normalisation are concerned.
//
//   SentencePieceFile file = check_sentencepiece_file(bytes, "spiece.model");   // file.model_type
#pragma once

#include <cstdint>
#include <string_view>

namespace fovea {

struct SentencePieceFile {
  int64_t model_type = 1;    // TrainerSpec.ModelType: 1 unigram, 2 BPE, 3 words, 4 characters
  bool space_begins = true;  // a space becomes the beginning of the piece behind it, also before the first word
};

// An Error of kind corrupt if the bytes are no protocol buffer, or if a search in a table would leave it.
SentencePieceFile check_sentencepiece_file(std::string_view bytes, std::string_view where);

// The same for such a table alone, as tokenizer.json has it; an empty one is good.
void check_normalization_table(std::string_view table, std::string_view where);

}  // namespace fovea
