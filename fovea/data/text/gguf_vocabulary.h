// A tokenizer as the metadata of a GGUF file: what gguf_tokenizer.h reads, the other way round.
//
//   GgufMetadata metadata = gguf_vocabulary("my-model", *load_tokenizer("my-model"), 49152);
//   … write the file …   check_same_ids(*load_tokenizer("my-model"), gguf_tokenizer(Gguf("my-model.gguf")), "my-model");
//
// BPE of bytes with its merges (vocab.json and merges.txt, or tokenizer.json), SentencePiece's BPE with scores (tokenizer.model, or a
// tokenizer.json that was made of one), its unigrams, and WordPiece (vocab.txt or tokenizer.json).
#pragma once

#include "fovea/data/text/tokenizer.h"
#include "fovea/formats/gguf.h"

namespace fovea {

// With as many entries as the model has rows for, those behind the tokenizer's own unused. An Error if the format has no words for it.
GgufMetadata gguf_vocabulary(const std::filesystem::path& folder, const Tokenizer&, int64_t entries);

// An Error if texts of several scripts, digits, white space and marks get other ids.
void check_same_ids(const Tokenizer& given, const Tokenizer& written, std::string_view where);

}  // namespace fovea
