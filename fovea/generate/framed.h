// Texts as a model of others reads them: among the special tokens of its tokenizer, and no longer than it has positions for.
//
//   const Framed f = framed(tokenizer, "How are you?", {}, model.longest());
//   const Source source = source_of({f}, tokenizer.special().pad);
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/models/abilities.h"

namespace fovea {

struct Framed {
  Tokens tokens;      // special ones have empty spans
  size_t unread = 0;  // tokens at the ends of the texts for which there is no place
  size_t second = 0;  // where the second text begins among the tokens; their number without one
};

// The longer of two texts is cut first. `longest` 0: nothing is.
Framed framed(const Tokenizer&, std::string_view text, std::optional<std::string_view> second, int64_t longest);
Framed framed(const Tokenizer&, Tokens text, std::optional<Tokens> second, int64_t longest);

Source source_of(const std::vector<Framed>&, int64_t padding);  // padded to the longest, with types if they have any

}  // namespace fovea
