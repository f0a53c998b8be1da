// Pieces and their ids 0 … n − 1, and a trie over their bytes.
//
//   Vocabulary v(pieces, "vocab.txt");                 // an Error if a piece stands there twice
//   int64_t id = v.id_of("##ing");                     // −1: there is none
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using TextIds = std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>>;

class Vocabulary final {
 public:
  Vocabulary() = default;
  Vocabulary(std::vector<std::string> pieces, std::string_view where);

  int64_t size() const { return static_cast<int64_t>(pieces_.size()); }
  const std::string& piece(int64_t id) const { return pieces_[static_cast<size_t>(id)]; }
  int64_t id_of(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? -1 : found->second;
  }

 private:
  std::vector<std::string> pieces_;
  TextIds ids_;
};

// Nodes are numbered from 0, the root; an edge is found in a table of (node, byte).
class Trie final {
 public:
  explicit Trie(size_t bytes = 0);              // about as many as the texts have together
  void add(std::string_view text, int64_t id);  // a later one replaces the id of the same text

  static constexpr uint32_t none = 0xFFFFFFFF;
  uint32_t next(uint32_t node, unsigned char byte) const {
    if (node == 0) return first_[byte];
    const uint64_t key = uint64_t{node} << 8 | byte;
    for (size_t slot = place(key);; slot = (slot + 1) & mask_) {
      if (edges_[slot].key == key) return edges_[slot].node;
      if (edges_[slot].key == empty) return none;
    }
  }
  int64_t id(uint32_t node) const { return ids_[node]; }  // −1: no text ends here

 private:
  struct Edge {
    uint64_t key;
    uint32_t node;
  };
  static constexpr uint64_t empty = ~uint64_t{0};
  size_t place(uint64_t key) const { return (key * 0x9E3779B97F4A7C15u >> 20) & mask_; }
  void grow();

  std::vector<uint32_t> first_;
  std::vector<Edge> edges_;
  std::vector<int64_t> ids_;
  size_t mask_ = 0, count_ = 0;
};

}  // namespace fovea
