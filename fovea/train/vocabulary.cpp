#include "fovea/train/vocabulary.h"

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
#include "fovea/data/text/bytes.h"
#include "fovea/data/text/pretrained/learn_wordpiece.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"

namespace fovea {

std::unique_ptr<Tokenizer> learn_vocabulary(const VocabularyConfig& c, const TextSource& texts, int64_t seed) {
  const bool pieces = c.kind == "unigram" || c.kind == "bpe", words = c.kind == "words",
             wordpiece = c.kind == "wordpiece";
  if (!pieces && !words && !wordpiece && c.kind != "bytes")
    throw_unknown("kind of tokenizer", c.kind, {"unigram", "bpe", "wordpiece", "words", "bytes"});
  require(words || (c.at_least == 1 && !c.zero_digits),
          "--tokenizer {}: found --at-least or --zero-digits, which are for words", c.kind);
  require(pieces || (!c.byte_fallback && c.coverage == 1),
          "--tokenizer {}: found --byte-fallback or --character-coverage, which are for unigram and bpe", c.kind);
  require(c.kind != "bytes" || !c.lower_case, "--tokenizer bytes: found --lower-case, which bytes do not know");
  if (wordpiece) return learn_wordpiece(texts, {.vocabulary = c.size, .lower_case = c.lower_case});
  if (words)
    return std::make_unique<Words>(Words::train(
        texts,
        {.vocabulary = c.size, .at_least = c.at_least, .lower_case = c.lower_case, .zero_digits = c.zero_digits}));
  if (!pieces) return std::make_unique<Bytes>();
  return std::make_unique<SentencePiece>(
      SentencePiece::train(texts, {.model = c.kind == "bpe" ? SentencePiece::Model::bpe : SentencePiece::Model::unigram,
                                   .vocabulary = c.size,
                                   .normalization = c.lower_case ? SentencePiece::Normalization::nfkc_lower_case
                                                                 : SentencePiece::Normalization::nfkc,
                                   .coverage = c.coverage,
                                   .byte_fallback = c.byte_fallback,
                                   .seed = static_cast<uint64_t>(seed)}));
}

}  // namespace fovea
