// Countries and cities that English and German call by different names.
//
//   place_names("The train to Vienna is late.", "en", "de");   // "Wien", with the bytes of Vienna
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

struct PlaceName {
  Span span;                          // of the text
  std::string text;                   // in the other language
  std::vector<std::string> accepted;  // other names for it there
};

// As whole words; without those that stand in a genitive, which has forms of its own. Of other languages there is nothing to be said.
std::vector<PlaceName> place_names(std::string_view text, std::string_view from, std::string_view to);

}  // namespace fovea
