// The tokenizer that a GGUF file carries in its metadata.
//
//   const Gguf file("model.gguf");
//   std::unique_ptr<Tokenizer> t = gguf_tokenizer(file);
//
// tokenizer.ggml.model: llama (SentencePiece's BPE by scores, bytes for what has no piece), gpt2 (byte-level BPE by merges, its words
// cut as tokenizer.ggml.pre names), bert (WordPiece of lower-case words), t5 (unigram). What is not known here is an Error.
#pragma once

#include <memory>

#include "fovea/data/text/tokenizer.h"
#include "fovea/formats/gguf.h"

namespace fovea {

std::unique_ptr<Tokenizer> gguf_tokenizer(const Gguf&);

}  // namespace fovea
