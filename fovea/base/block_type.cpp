#include "fovea/base/block_type.h"

#include "fovea/base/catalogue.h"

namespace fovea {

std::string_view name(BlockType t) {
  constexpr std::string_view names[] = {"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K"};
  return names[static_cast<int>(t)];
}

BlockType parse_block_type(std::string_view text) {
  std::vector<std::string> known;
  for (BlockType t : block_types) {
    if (name(t) == text) return t;
    known.emplace_back(name(t));
  }
  throw_unknown("type of blocks", text, known);
}

}  // namespace fovea
