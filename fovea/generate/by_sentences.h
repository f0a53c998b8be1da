// Texts sentence by sentence, each prepared for the model and restored from what it wrote (careful_sentence.h).
//
//   translate_by_sentences(*model, *tokenizer, {"Write to a@b.org! 😀"}, config)[0].found[0].text;
#pragma once

#include "fovea/generate/translate.h"

namespace fovea {

// As translate(), for a config that protects. With piece_tokens 0 a text is one sentence.
std::vector<Translations> translate_by_sentences(const Generator&, const Tokenizer&,
                                                 const std::vector<std::string>& texts, const GenerationConfig&,
                                                 const TranslateOptions& = {});

}  // namespace fovea
