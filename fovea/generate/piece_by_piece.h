// Texts as a model reads them: cut into pieces where it does not read them as a whole, and put together again.
//
//   translate_pieces(*model, *tokenizer, {"Where is the station?"}, config)[0].found[0].text;
#pragma once

#include "fovea/generate/translate.h"

namespace fovea {

// As translate(), with each text given to the model as it is.
std::vector<Translations> translate_pieces(const Generator&, const Tokenizer&, const std::vector<std::string>& texts,
                                           const GenerationConfig&, const TranslateOptions& = {});

}  // namespace fovea
