// What in a text is not to be translated: addresses, names of accounts, tags, codes, files, placeholders, marks of HTML and
// Markdown, and emoji.
//
//   for (const KeptText& k : find_kept_text("See www.example.org 😀")) …     // an address and an emoji, in their order
#pragma once

#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

struct KeptText {
  enum Kind {
    word,     // stands in its sentence as a name does: addresses, @names, #tags, codes, files, placeholders
    opening,  // of a pair of marks around some words: <b>, **, the [ of a link
    closing,  // </b>, **, ](address)
    aside,    // stands between words: an emoji, <br>
  };
  Kind kind;
  Span span;
};

// Of a valid text; without overlaps. A mark that opens has its own that closes, in the same text and in the right order.
std::vector<KeptText> find_kept_text(std::string_view text);

}  // namespace fovea
