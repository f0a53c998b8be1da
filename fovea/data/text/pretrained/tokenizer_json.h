// tokenizer.json, Hugging Face's file of a whole tokenizer.
//
//   std::unique_ptr<Tokenizer> t = load_tokenizer_json("my-model/tokenizer.json");
//
// What the file names and this program does not know is an Error of kind unsupported, never passed over.
#pragma once

#include "fovea/data/text/pretrained/pipeline.h"

namespace fovea {

// With the special tokens of a tokenizer_config.json and a special_tokens_map.json beside it.
std::unique_ptr<Tokenizer> load_tokenizer_json(const std::filesystem::path& file);

PipelineParts read_tokenizer_json(std::string_view text, std::string_view where);

}  // namespace fovea
