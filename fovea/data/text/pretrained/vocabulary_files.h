// Tokenizers of pretrained models from the files that they had before tokenizer.json: BERT's vocab.txt, GPT-2's vocab.json
// with merges.txt, OpenAI's *.tiktoken.
//
//   std::unique_ptr<Tokenizer> t = load_vocab_txt("bert/vocab.txt");       // a tokenizer_config.json beside it is read
#pragma once

#include "fovea/data/text/pretrained/pipeline.h"

namespace fovea {

std::unique_ptr<Tokenizer> load_vocab_txt(const std::filesystem::path& file);
// The same of a vocabulary that is in no file yet; save() writes it as vocab.txt with a tokenizer_config.json.
std::unique_ptr<Tokenizer> wordpiece_tokenizer(const std::vector<std::string>& pieces, bool lower_case);
std::unique_ptr<Tokenizer> load_vocab_and_merges(const std::filesystem::path& vocab,
                                                 const std::filesystem::path& merges);
std::unique_ptr<Tokenizer> load_tiktoken(const std::filesystem::path& file);
// The words of whisper.cpp's files, as bytes in the order of their ids, which is the order in which they are merged.
std::unique_ptr<Tokenizer> whisper_tokenizer(const std::vector<std::string>& words, const std::string& where);

}  // namespace fovea
