#include "fovea/data/text/pretrained/wordpiece.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {

WordPiece::WordPiece(Vocabulary vocabulary, const Options& options)
    : vocabulary_(std::move(vocabulary)),
      unknown_(vocabulary_.id_of(options.unknown)),
      longest_word_(options.longest_word) {
  for (int64_t id = 0; id < vocabulary_.size(); ++id) {
    const std::string_view piece = vocabulary_.piece(id);
    beginnings_.add(piece, id);
    if (piece.starts_with(options.prefix)) rests_.add(piece.substr(options.prefix.size()), id);
  }
}

bool WordPiece::cut_all(std::string_view word, std::vector<Cut>& cuts) const {
  for (size_t begin = 0; begin < word.size();) {
    const Trie& trie = begin == 0 ? beginnings_ : rests_;
    size_t end = begin;
    int64_t id = -1;
    uint32_t node = 0;
    for (size_t at = begin; at < word.size();) {
      node = trie.next(node, static_cast<unsigned char>(word[at++]));
      if (node == Trie::none) break;
      if (trie.id(node) >= 0) end = at, id = trie.id(node);
    }
    if (id < 0) return false;
    cuts.push_back({static_cast<int32_t>(id), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    begin = end;
  }
  return true;
}

void WordPiece::cut(std::string_view word, std::vector<Cut>& cuts) const {
  const size_t before = cuts.size();
  const bool short_enough = static_cast<int64_t>(word.size()) <= longest_word_ ||
                            std::count_if(word.begin(), word.end(), begins_character) <= longest_word_;
  if (short_enough && cut_all(word, cuts)) return;
  cuts.resize(before);
  require(unknown_ >= 0,
          "tokenizer: found '{}', which cannot be cut, and the vocabulary has no piece for unknown words",
          printable(word.substr(0, 100)));
  cuts.push_back({static_cast<int32_t>(unknown_), 0, static_cast<uint32_t>(word.size())});
}

}  // namespace fovea
