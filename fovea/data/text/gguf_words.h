// How byte-level tokenizers of GGUF files cut a text into words, by the names of tokenizer.ggml.pre.
//
//   for (const GgufWords& words : gguf_words()) …      // the first is GPT-2's, which files without a name mean
#pragma once

#include <span>
#include <string_view>

namespace fovea {

struct GgufWords {
  std::string_view name, pattern;  // no pattern: GPT-2's
  bool single_digits = false;
  bool whole_words = false;  // a word that is a piece is not cut
  bool nfc = false;
};

std::span<const GgufWords> gguf_words();

}  // namespace fovea
