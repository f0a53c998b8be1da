// Words of one source that a vocabulary lacks, numbered behind it, so that a model that copies can write them (models/copying.h).
//
//   UnknownWords words(tokenizer);
//   std::vector<int64_t> ids = words.add(source, tokenizer.encode(source));    // its first unknown word is tokenizer.size()
//   words.find(target, tokenizer.encode(target));                              // a word that the source has not stays unknown
//   words.decode(written).text;                                                // as the source spells it
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/data/text/tokenizer.h"

namespace fovea {

// A text, and the bytes of it that each token stands for: those by which it makes the text longer, without blanks before them.
struct DecodedText {
  std::string text;
  std::vector<Span> spans;
};
DecodedText decode_with_spans(const Tokenizer&, const std::vector<int64_t>& ids);

class UnknownWords final {
 public:
  explicit UnknownWords(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}  // which must live as long as this

  std::vector<int64_t> add(std::string_view text, const Tokens&);
  std::vector<int64_t> find(std::string_view text, const Tokens&) const;
  DecodedText decode(const std::vector<int64_t>& ids) const;  // an Error if there is no such word
  size_t size() const { return words_.size(); }

 private:
  const Tokenizer* tokenizer_;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int64_t> ids_;
};

}  // namespace fovea
