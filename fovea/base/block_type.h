// How GGUF files keep the numbers of a matrix in few bits: blocks of 32 or 256 of a row, each with its own scales.
//
//   BlockType t = parse_block_type("q4_K");   name(t);   block_of(t).numbers;      // 256, in block_of(t).bytes bytes
#pragma once

#include <cstdint>
#include <string_view>

namespace fovea {

enum class BlockType { q8_0, q4_0, q4_1, q5_0, q5_1, q2_K, q3_K, q4_K, q5_K, q6_K };

inline constexpr BlockType block_types[] = {BlockType::q8_0, BlockType::q4_0, BlockType::q4_1, BlockType::q5_0,
                                            BlockType::q5_1, BlockType::q2_K, BlockType::q3_K, BlockType::q4_K,
                                            BlockType::q5_K, BlockType::q6_K};

struct Block {
  int64_t numbers, bytes;
};

constexpr Block block_of(BlockType t) {
  constexpr Block blocks[] = {{32, 34},  {32, 18},   {32, 20},   {32, 22},   {32, 24},
                              {256, 84}, {256, 110}, {256, 144}, {256, 176}, {256, 210}};
  return blocks[static_cast<int>(t)];
}

std::string_view name(BlockType);
BlockType parse_block_type(std::string_view text);  // an Error for an unknown name

}  // namespace fovea
