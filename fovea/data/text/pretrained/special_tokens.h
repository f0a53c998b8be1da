// What stands beside the vocabulary of a pretrained model: tokenizer_config.json, special_tokens_map.json, added_tokens.json.
//
//   SpecialTokens special = read_special_tokens("my-model");       // special.names["mask"] is "[MASK]"
#pragma once

#include <map>
#include <optional>

#include "fovea/data/text/pretrained/pipeline.h"

namespace fovea {

struct SpecialTokens {
  std::map<std::string, std::string> names;  // of bos, eos, unk, sep, pad, cls and mask, those that are there
  std::vector<AddedToken> added;             // with their ids; special ones first by name, then what the files add
  std::string tokenizer_class;               // as the config names it, without "Fast"
  std::optional<bool> do_lower_case, tokenize_chinese_chars, strip_accents, add_prefix_space, add_bos, add_eos;
  std::optional<bool> legacy_spaces;        // of Llama's
  std::map<std::string, MappedFile> files;  // by their names
};

SpecialTokens read_special_tokens(const std::filesystem::path& folder);

// Adds the files, the tokens with ids, and the ids of the special ones; without names, by how special tokens are usually spelled.
void add_special_tokens(PipelineParts& parts, const SpecialTokens& special);

// An added token of this name with the id that it has in the vocabulary, or the next free one.
void add_named_token(PipelineParts& parts, const std::string& name, bool lstrip = false);

}  // namespace fovea
