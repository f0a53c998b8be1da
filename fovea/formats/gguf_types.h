// The numbers that GGUF files give to types, of metadata and of tensors.
//
//   size_of(GgufType::u32) == 4;   blocks_of_stored(12) == BlockType::q4_K;   stored(BlockType::q4_K) == 12
#pragma once

#include <optional>
#include <string>

#include "fovea/formats/gguf.h"

namespace fovea {

// Bytes; of a text those of its length.
uint64_t size_of(GgufType);

// Of tensors.
std::optional<DType> dtype_of_stored(uint32_t type);
std::optional<BlockType> blocks_of_stored(uint32_t type);
std::optional<Block> block_of_stored(uint32_t type);  // of either
std::string name_of_stored(uint32_t type);            // also of those that Fovea does not read
uint32_t stored(DType);
uint32_t stored(BlockType);

}  // namespace fovea
