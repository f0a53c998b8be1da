// Which tokenizer a folder of a pretrained model has.
//
//   if (auto t = load_pretrained_tokenizer("my-model")) …          // nullptr: none that is known
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace fovea {

std::unique_ptr<Tokenizer> load_pretrained_tokenizer(const std::filesystem::path& folder);
// From one file, by its name; nullptr if it is none of these.
std::unique_ptr<Tokenizer> load_pretrained_tokenizer_file(const std::filesystem::path& file);

}  // namespace fovea
