// For tests of products: random numbers, their bits, and packed weights.
//
//   const Floats x = random_floats(rows * depth, 1), w = random_floats(columns * depth, 2);
//   multiply(rows, {x.data(), depth, 1}, PackedWeight(Precision::int8, w, depth, columns), {y.data(), columns});
#pragma once

#include <bit>
#include <cstdlib>
#include <memory>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/kernels/packed.h"

namespace fovea::kernels {

using Floats = std::vector<float>;

inline Floats random_floats(int64_t count, uint64_t seed) {
  Random random(seed);
  Floats values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return values;
}

inline std::vector<uint32_t> bits_of(const Floats& x) {
  std::vector<uint32_t> bits;
  for (float value : x) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

// A weight [columns, depth], packed; exactly as much memory as packed_bytes() says, so that a sanitizer sees a step beyond.
class PackedWeight {
 public:
  PackedWeight(Precision p, const Floats& w, int64_t depth, int64_t columns)
      : PackedWeight({p, depth, columns}, packed_bytes(p, depth, columns)) {
    pack(p, {w.data(), 1, depth}, depth, columns, memory_.get());
  }
  PackedWeight(BlockType type, const std::vector<std::byte>& rows, int64_t depth, int64_t columns)
      : PackedWeight({Precision::f32, depth, columns, nullptr, type}, packed_bytes(type, depth, columns)) {
    pack_blocks(matrix_, rows.data());
  }
  operator const PackedMatrix&() const { return matrix_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  PackedWeight(const PackedMatrix& shape, int64_t bytes) : matrix_(shape) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(bytes == 0 ? 64 : bytes))));
    matrix_.data = memory_.get();
  }

  std::unique_ptr<std::byte, Free> memory_;
  PackedMatrix matrix_;
};

}  // namespace fovea::kernels
