// Where the sentences of a text stand.
//
//   for (Span sentence : split_sentences("I saw Dr. Smith. He left at 5 p.m. and paid 3.50 dollars.")) …     // two
//
// Rules without a language: marks that end a sentence (. ! ? … 。), with the quotes and brackets that close behind them, and
// what begins next. Abbreviations, initials, ordinals and words that begin sentences are those of English and German, with some
// of French and Spanish. In doubt two sentences stay one.
#pragma once

#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

// In the text's order, without the white space around them; everything else is part of one. Emoji behind the end of a sentence
// stand by themselves. An empty line ends a sentence, and so does the end of a short line, unless the next one goes on in lower
// case. Of a valid text; an Error otherwise.
std::vector<Span> split_sentences(std::string_view text);

// Whether a clause begins with this word, as with "because".
bool is_conjunction(std::string_view word);

}  // namespace fovea
