// A vocabulary of BERT's kind, learned from texts: words are cut as BERT cuts them, their pieces are those of byte pair encoding
// (Sennrich, Haddow and Birch 2016), each character is a piece, and [PAD], [UNK], [CLS], [SEP] and [MASK] come first.
//
//   std::unique_ptr<Tokenizer> t = learn_wordpiece(lines_of({"text.txt"}), {.vocabulary = 8000});
//   t->save("my-model");                               // vocab.txt, which BertTokenizer reads as well
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct WordPieceLearning {
  int64_t vocabulary = 8000;  // pieces, with the special ones
  bool lower_case = true;     // and without accents
};
std::unique_ptr<Tokenizer> learn_wordpiece(const TextSource& texts, const WordPieceLearning&);

}  // namespace fovea
