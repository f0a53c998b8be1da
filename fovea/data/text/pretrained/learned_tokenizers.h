// Tokenizers that are learned from texts and stored as tokenizer.json and tokenizer_config.json, as Hugging Face loads them. Unlike
// SentencePiece's they keep every line break and space.
//
//   std::unique_ptr<Tokenizer> t = learn_byte_bpe(texts, {.vocabulary = 8000});      // GPT-2's: any text is known
//   std::unique_ptr<Tokenizer> u = learn_characters(texts);                         // one id for each character
//   std::unique_ptr<Tokenizer> v = learn_wordpiece(texts, {.lower_case = true});     // BERT's, with [CLS], [SEP] and [MASK]
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct LearnTokenizerOptions {
  int64_t vocabulary = 8000;  // pieces, with the special ones; fewer if the texts do not have as many
  bool lower_case = false;    // wordpiece: do not tell A from a, nor é from e
};

// Ids 0 and 1 are <|endoftext|>, which is start and end, and <|padding|>; of characters id 2 is <unk>.
std::unique_ptr<Tokenizer> learn_byte_bpe(const TextSource& texts, const LearnTokenizerOptions& = {});
std::unique_ptr<Tokenizer> learn_characters(const TextSource& texts);
// Ids 0 to 4 are [PAD], [UNK], [CLS], [SEP] and [MASK].
std::unique_ptr<Tokenizer> learn_wordpiece(const TextSource& texts, const LearnTokenizerOptions& = {});

}  // namespace fovea
