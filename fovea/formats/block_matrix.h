// A matrix as a GGUF file keeps it: rows of blocks, in memory that something else may own, such as a mapped file.
//
//   BlockMatrix m = quantised(weight, BlockType::q4_K);        // [outputs, inputs]
//   Tensor w = m.numbers();                                    // in f32 again
#pragma once

#include <memory>

#include "fovea/base/block_type.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct BlockMatrix {
  BlockType type = BlockType::q8_0;
  Shape shape;  // the last axis is in whole blocks
  std::shared_ptr<const std::byte> memory;

  int64_t bytes() const { return shape.elements() / block_of(type).numbers * block_of(type).bytes; }
  Tensor numbers() const;
};

// q8_0, q5_0, q4_0, q4_K or q6_K; else, or if the last axis is not in whole blocks, an Error.
BlockMatrix quantised(const Tensor& numbers, BlockType type);

}  // namespace fovea
