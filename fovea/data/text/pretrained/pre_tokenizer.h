// Cuts a normalised text into the words that the model of a vocabulary then cuts further. Each kind is one of tokenizer.json's
// pre-tokenizers, under its name there.
//
//   AlignedText text("It's fine", 0);
//   PreTokens words(text);
//   byte_level_pre_tokenizer({})->apply(words);        // words.pieces: It | 's |  fine
#pragma once

#include <memory>

#include "fovea/data/text/pretrained/aligned_text.h"
#include "fovea/data/text/pretrained/regex.h"

namespace fovea {

struct PreTokens {
  struct Piece {
    size_t begin = 0, end = 0;  // of text.text()
    int64_t origin = 0;         // where it begins in the user's text
  };
  explicit PreTokens(AlignedText& t) : text(t), pieces{{0, t.text().size(), t.base()}} {}

  AlignedText& text;
  std::vector<Piece> pieces;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(PreTokens& words) const = 0;

  // The same, but for the bytes that a byte-level vocabulary spells with other characters: they stay as they are. False:
  // this one does not end in bytes, and did nothing.
  virtual bool apply_but_keep_bytes(PreTokens&) const { return false; }
  virtual bool ends_in_bytes() const { return false; }
};
using PreTokenizerPointer = std::shared_ptr<const PreTokenizer>;

// What becomes of a match: a piece of its own, nothing, a piece together with matches beside it, the end of the piece before,
// or the beginning of the one behind.
enum class Behaviour { isolated, removed, contiguous, merged_with_previous, merged_with_next };

struct ByteLevelOptions {
  bool add_prefix_space = false;
  bool use_regex = true;  // cut as GPT-2 does
};

struct MetaspaceOptions {
  enum class Prepend { always, first, never };
  char32_t replacement = 0x2581;
  Prepend prepend = Prepend::always;
  bool split = true;
};

PreTokenizerPointer sequence_of(std::vector<PreTokenizerPointer> pre_tokenizers);
PreTokenizerPointer bert_pre_tokenizer();
PreTokenizerPointer byte_level_pre_tokenizer(const ByteLevelOptions& options);
PreTokenizerPointer whitespace_pre_tokenizer();
PreTokenizerPointer whitespace_split_pre_tokenizer();
PreTokenizerPointer punctuation_pre_tokenizer(Behaviour behaviour);
PreTokenizerPointer digits_pre_tokenizer(bool individual);
PreTokenizerPointer split_pre_tokenizer(Regex pattern, Behaviour behaviour, bool invert);
PreTokenizerPointer metaspace_pre_tokenizer(const MetaspaceOptions& options);
PreTokenizerPointer delimiter_pre_tokenizer(char32_t delimiter);
PreTokenizerPointer fixed_length_pre_tokenizer(int64_t characters);
PreTokenizerPointer unicode_scripts_pre_tokenizer();

// GPT-2's pattern, read without a regular expression:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
extern const std::string_view gpt2_pattern;
size_t end_of_gpt2_word(std::string_view text, size_t begin);

}  // namespace fovea
