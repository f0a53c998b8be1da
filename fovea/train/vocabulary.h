// Which tokenizer a training learns, and from what.
//
//   std::unique_ptr<Tokenizer> t = learn_vocabulary({.kind = "bpe", .size = 8000}, texts);
#pragma once

#include <memory>
#include <string>

#include "fovea/base/fields.h"
#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct VocabularyConfig {
  std::string kind = "unigram";
  int64_t size = 8000, at_least = 1;
  double coverage = 1;
  bool lower_case = false, zero_digits = false, byte_fallback = false;

  void fields(Fields& f) {
    f("tokenizer", kind,
      "unigram or bpe (SentencePiece), byte-bpe (GPT-2's), wordpiece (BERT's), words, characters or bytes; or the "
      "path of a tokenizer that was learned before");
    f("vocabulary", size, "at most so many pieces or words");
    f("at_least", at_least, "words: those seen less often are unknown");
    f("lower_case", lower_case, "do not tell A from a");
    f("zero_digits", zero_digits, "words: do not tell digits from each other");
    f("character_coverage", coverage, "unigram, bpe: share of the characters of the text that get pieces of their own");
    f("byte_fallback", byte_fallback, "unigram, bpe: spell unknown characters in bytes");
  }
};

// The seed is that of the draw where there are more than 2,000,000 texts for SentencePiece.
std::unique_ptr<Tokenizer> learn_vocabulary(const VocabularyConfig&, const TextSource& texts, int64_t seed = 0);

}  // namespace fovea
