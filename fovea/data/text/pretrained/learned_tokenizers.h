// Tokenizers that are learned from texts and stored as tokenizer.json and tokenizer_config.json, as Hugging Face loads them. Unlike
// SentencePiece's they keep every line break and space.
//
//   std::unique_ptr<Tokenizer> t = learn_byte_bpe(texts, {.vocabulary = 8000});      // GPT-2's: any text is known
//   std::unique_ptr<Tokenizer> u = learn_characters(texts);                         // one id for each character
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct ByteBpeLearning {
  int64_t vocabulary = 8000;  // pieces, with the special ones; fewer if the texts do not have as many
};

// Ids 0 and 1 are <|endoftext|>, which is start and end, and <|padding|>; of characters id 2 is <unk>.
std::unique_ptr<Tokenizer> learn_byte_bpe(const TextSource& texts, const ByteBpeLearning& = {});
std::unique_ptr<Tokenizer> learn_characters(const TextSource& texts);

}  // namespace fovea
