#include "fovea/data/text/pretrained/word_level.h"

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

WordLevel::WordLevel(Vocabulary vocabulary, std::string_view unknown)
    : vocabulary_(std::move(vocabulary)), unknown_(vocabulary_.id_of(unknown)) {}

void WordLevel::cut(std::string_view word, std::vector<Cut>& cuts) const {
  const int64_t found = vocabulary_.id_of(word), id = found < 0 ? unknown_ : found;
  require(id >= 0, "tokenizer: found '{}', which is not in the vocabulary, and that has no piece for unknown words",
          printable(word.substr(0, 100)));
  cuts.push_back({static_cast<int32_t>(id), 0, static_cast<uint32_t>(word.size())});
}

}  // namespace fovea
