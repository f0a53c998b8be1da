// What a model answered, as one line of JSON with everything that is known: scores, tokens with their bytes, weights.
//
//   fmt::print("{}\n", to_json("Where is it?", translations));   // {"source": …, "text": …, "score": …, "tokens": …, …}
//
// Spans are bytes [begin, end) of the text that stands beside them. Numbers have six digits.
#pragma once

#include <string>

#include "fovea/explain/entities.h"
#include "fovea/explain/report.h"
#include "fovea/generate/classify_pictures.h"
#include "fovea/generate/translate.h"

namespace fovea {

// The best translation's keys stand beside the source; with several, "others" holds the rest. A token without bytes is the end.
// "unsure_spans" are the bytes of the source whose translation is unsure, if there are any; "copied": [{"text", "span"}] what a model with a
// pointer took from the source.
std::string to_json(const std::string& source, const Translations&);

// {"text": …, "entities": [{"type", "text", "span", "probability"}], "words": [{"text", "span", "label", "probability"}], "weights": …}
std::string to_json(const TaggedText&);

// {"text": …, "label": …, "probability": …, "unsure": …, "probabilities": {label: …}, "tokens": [{"text", "span", "weight"}]}; with several
// labels "labels": [label, …] instead of one, with a number "value": … alone; "unread" if the model did not read all tokens.
std::string to_json(const std::string& text, const Classified&, const Labels&);
// {"picture": …, "label": … as of a text; "patches": [down, across], "looked": [[weight of each patch, row by row], …]} if that was asked for.
std::string to_json(const std::string& path, const SeenPicture&, const Labels&, const PictureShape&);

// {"text": …, "answer": …, "heads": [{"place", "head", "rows": [tokens], "columns": [tokens], "weights": [[…]]}]}
std::string to_json(const Report&);

}  // namespace fovea
