// Porter's stemmer (Porter 1980) with NLTK's extensions, the one that rouge-score uses.
//
//   porter_stem("relational");                         // "relat"
#pragma once

#include <string>
#include <string_view>

namespace fovea {

std::string porter_stem(std::string_view word);  // a word of lower-case letters and digits

}  // namespace fovea
