#include "fovea/train/vocabulary.h"

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
#include "fovea/data/text/bytes.h"
#include "fovea/data/text/pretrained/learn_wordpiece.h"
#include "fovea/data/text/pretrained/learned_tokenizers.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"

namespace fovea {

namespace {

// What a kind has no use for is a mistake rather than something to pass over.
void check(const VocabularyConfig& c) {
  const std::string& k = c.kind;
  const bool pieces = k == "unigram" || k == "bpe", words = k == "words";
  if (!pieces && !words && k != "bytes" && k != "byte-bpe" && k != "wordpiece" && k != "characters")
    throw_unknown("kind of tokenizer", k, {"unigram", "bpe", "byte-bpe", "wordpiece", "words", "characters", "bytes"});
  require(words || (c.at_least == 1 && !c.zero_digits),
          "--tokenizer {}: found --at-least or --zero-digits, which are for words", k);
  require(pieces || (!c.byte_fallback && c.coverage == 1),
          "--tokenizer {}: found --byte-fallback or --character-coverage, which are for unigram and bpe", k);
  require(pieces || words || k == "wordpiece" || !c.lower_case,
          "--tokenizer {}: found --lower-case, which is for unigram, bpe, wordpiece and words", k);
}

// The lines of texts that may be whole books.
TextSource by_lines(const TextSource& texts) {
  return [&texts, text = std::string(), at = size_t{0}](std::string& line) mutable {
    while (at >= text.size()) {
      at = 0;
      if (!texts(text)) return false;
    }
    const size_t end = std::min(text.find('\n', at), text.size());
    line = text.substr(at, end - at);
    at = end + 1;
    return true;
  };
}

}  // namespace

std::unique_ptr<Tokenizer> learn_vocabulary(const VocabularyConfig& c, const TextSource& documents, int64_t seed) {
  check(c);
  if (c.kind == "characters") return learn_characters(documents);
  if (c.kind == "byte-bpe") return learn_byte_bpe(documents, {.vocabulary = c.size});
  const TextSource texts = by_lines(documents);
  if (c.kind == "words")
    return std::make_unique<Words>(Words::train(
        texts,
        {.vocabulary = c.size, .at_least = c.at_least, .lower_case = c.lower_case, .zero_digits = c.zero_digits}));
  if (c.kind == "bytes") return std::make_unique<Bytes>();
  if (c.kind == "wordpiece") return learn_wordpiece(texts, {.vocabulary = c.size, .lower_case = c.lower_case});
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
