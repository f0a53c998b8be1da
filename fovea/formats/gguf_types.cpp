#include "fovea/formats/gguf_types.h"

#include <algorithm>

namespace fovea {
namespace {

struct PlainType {
  uint32_t number;
  DType type;
};
constexpr PlainType plain_types[] = {{0, DType::f32},  {1, DType::f16}, {30, DType::bf16},
                                     {28, DType::f64}, {24, DType::i8}, {27, DType::i64}};

struct StoredBlocks {
  uint32_t number;
  BlockType type;
};
constexpr StoredBlocks stored_blocks[] = {
    {8, BlockType::q8_0},  {2, BlockType::q4_0},  {3, BlockType::q4_1},  {6, BlockType::q5_0},  {7, BlockType::q5_1},
    {10, BlockType::q2_K}, {11, BlockType::q3_K}, {12, BlockType::q4_K}, {13, BlockType::q5_K}, {14, BlockType::q6_K}};

struct OtherType {
  uint32_t number;
  const char* name;
};
constexpr OtherType other_types[] = {{9, "q8_1"},     {15, "q8_K"},   {16, "iq2_xxs"}, {17, "iq2_xs"},
                                     {18, "iq3_xxs"}, {19, "iq1_s"},  {20, "iq4_nl"},  {21, "iq3_s"},
                                     {22, "iq2_s"},   {23, "iq4_xs"}, {25, "i16"},     {26, "i32"},
                                     {29, "iq1_m"},   {34, "tq1_0"},  {35, "tq2_0"},   {39, "mxfp4"}};

}  // namespace

uint64_t size_of(GgufType type) {
  constexpr uint64_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};
  return sizes[static_cast<int>(type)];
}

std::optional<DType> dtype_of_stored(uint32_t type) {
  for (const auto& [number, plain] : plain_types)
    if (number == type) return plain;
  return std::nullopt;
}

std::optional<BlockType> blocks_of_stored(uint32_t type) {
  for (const auto& [number, blocks] : stored_blocks)
    if (number == type) return blocks;
  return std::nullopt;
}

std::optional<Block> block_of_stored(uint32_t type) {
  if (const auto plain = dtype_of_stored(type)) return Block{1, static_cast<int64_t>(size_of(*plain))};
  if (const auto blocks = blocks_of_stored(type)) return block_of(*blocks);
  return std::nullopt;
}

std::string name_of_stored(uint32_t type) {
  if (const auto plain = dtype_of_stored(type)) return std::string(name(*plain));
  if (const auto blocks = blocks_of_stored(type)) return std::string(name(*blocks));
  for (const auto& [number, other] : other_types)
    if (number == type) return other;
  return fmt::format("{}", type);
}

uint32_t stored(DType type) {
  return std::find_if(std::begin(plain_types), std::end(plain_types), [&](const auto& t) { return t.type == type; })
      ->number;
}

uint32_t stored(BlockType type) {
  return std::find_if(std::begin(stored_blocks), std::end(stored_blocks), [&](const auto& t) { return t.type == type; })
      ->number;
}

}  // namespace fovea
