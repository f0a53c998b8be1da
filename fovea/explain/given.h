// Recordings of what is given instead of generated: a translation that a person wrote, or random tokens that come twice.
//
//   const Recording seen = record_pair(model, tokenizer, "The bank approved the loan.", "Die Bank genehmigte den Kredit.");
//   measures.add_repeated(record_repeated(model, tokenizer, Random(1)));
#pragma once

#include <string>

#include "fovea/explain/recording.h"

namespace fovea {

// The model reads the source and is told the target, token by token; an Error if it does not translate.
Recording record_pair(const Model&, const Tokenizer&, const std::string& source, const std::string& target,
                      const RecordOptions& = {});

// Random tokens of the model's own vocabulary, then the same once more; what has a decoder reads and writes them. Without places for
// models that read words (taggers), and for those that cannot read as many.
Recording record_repeated(const Model&, const Tokenizer&, const Random&, int64_t length = 24);

}  // namespace fovea
