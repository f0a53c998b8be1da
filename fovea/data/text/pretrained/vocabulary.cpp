#include "fovea/data/text/pretrained/vocabulary.h"

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

Vocabulary::Vocabulary(std::vector<std::string> pieces, std::string_view where) : pieces_(std::move(pieces)) {
  ids_.reserve(pieces_.size());
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (!ids_.emplace(pieces_[i], static_cast<int64_t>(i)).second)
      throw Error(Error::corrupt, "{}: found '{}' twice, expected every piece once", where, printable(pieces_[i]));
  }
}

Trie::Trie(size_t bytes) : first_(256, none), ids_(1, -1) {
  size_t size = 64;
  while (size < bytes) size *= 2;
  edges_.assign(size, {empty, 0});
  mask_ = size - 1;
}

void Trie::grow() {
  std::vector<Edge> old(edges_.size() * 2, {empty, 0});
  old.swap(edges_);
  mask_ = edges_.size() - 1;
  for (const Edge& edge : old) {
    if (edge.key == empty) continue;
    size_t slot = place(edge.key);
    while (edges_[slot].key != empty) slot = (slot + 1) & mask_;
    edges_[slot] = edge;
  }
}

void Trie::add(std::string_view text, int64_t id) {
  uint32_t node = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    uint32_t next = this->next(node, byte);
    if (next == none) {
      next = static_cast<uint32_t>(ids_.size());
      ids_.push_back(-1);
      if (node == 0) {
        first_[byte] = next;
      } else {
        if (++count_ * 2 > edges_.size()) grow();
        const uint64_t key = uint64_t{node} << 8 | byte;
        size_t slot = place(key);
        while (edges_[slot].key != empty) slot = (slot + 1) & mask_;
        edges_[slot] = {key, next};
      }
    }
    node = next;
  }
  ids_[node] = id;
}

}  // namespace fovea
