// What the forward and the backward pass of recurrent.h share: where things lie in memory, and how the batch is spread
// over threads.
//
//   const Layout l(r.shape);
//   over_blocks(r.shape, [&](const Block& block) { … });
#pragma once

#include <algorithm>
#include <cstdint>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/gemm.h"
#include "fovea/kernels/recurrent.h"

namespace fovea::kernels::recurrent {

// How the matrices of one call lie in memory. Their rows are (step of the walk, item), so that the items of one step
// are a matrix of its own, and those of all steps too. Sixteen floats between rows keep the rows from being a multiple of
// 4 KB apart.
struct Layout {
  explicit Layout(const RecurrentShape& s)
      : lstm(s.cell == RecurrentCell::lstm),
        width(s.width),
        inputs(s.inputs),
        batch(s.batch),
        rows(s.batch * s.steps),
        gates(4 * width + 16),
        state(inputs + width + 16) {}
  bool lstm;
  int64_t width, inputs, batch, rows;
  int64_t gates, state;  // floats from row to row
};

// What the forward pass leaves: the gates' values, [x, h] and c before each step. [x, h] is zeros in the steps beyond an
// item's length.
struct Saved {
  Saved(const Layout& l, float* memory)
      : gates(memory), state(gates + l.rows * l.gates), cell(state + l.rows * l.state) {}
  float *gates, *state, *cell;
};

inline int64_t length_of(const Recurrent& r, int64_t item) { return r.lengths ? r.lengths[item] : r.shape.steps; }

// Where an item stands in the given step of its walk.
inline int64_t position(const Recurrent& r, int64_t item, int64_t step) {
  return r.reverse ? length_of(r, item) - 1 - step : step;
}

inline void check(const Recurrent& r) {
  const RecurrentShape& s = r.shape;
  require(s.batch >= 0 && s.steps >= 0 && s.inputs >= 0 && s.width > 0,
          "recurrent: found batch {}, steps {}, inputs {}, width {}, expected width above 0 and the others not below",
          s.batch, s.steps, s.inputs, s.width);
  require((r.weights.input && r.weights.hidden) || r.weights.packed,
          "recurrent: found no weights, expected input and hidden weights");
  for (int64_t b = 0; b < s.batch; ++b) {
    require(length_of(r, b) >= 0 && length_of(r, b) <= s.steps,
            "recurrent: found length {} of item {}, expected 0 to {}", length_of(r, b), b, s.steps);
  }
}

// The items of a block go through all steps on one thread, since rows need not wait for each other. There is one block,
// whose products are spread over the threads step by step, where there are too few items for that, only one step, or so
// many weights that each thread had better read only a part of them.
struct Block {
  int64_t begin, end;
};

template <class Body>
inline void over_blocks(const RecurrentShape& s, Body&& body) {
  constexpr int64_t most_weights = 3 << 18;  // 3 MB
  const bool apart = s.steps > 1 && s.batch >= 4 * threads() && 4 * s.width * (s.inputs + s.width) <= most_weights;
  const int64_t blocks = apart ? threads() : 1;
  if (blocks == 1) return body(Block{0, s.batch});
  parallel_for(blocks, [&](int64_t i) { body(Block{s.batch * i / blocks, s.batch * (i + 1) / blocks}); });
}

// body(item) for the items of a block; what surrounds the products is spread like them.
template <class Body>
inline void over_items(const Block& block, Body&& body) {
  parallel_ranges(block.end - block.begin, 8, [&](int64_t begin, int64_t end) {
    for (int64_t b = block.begin + begin; b < block.begin + end; ++b) body(b);
  });
}

inline void copy_or_zero(const float* from, int64_t count, float* to) {
  if (from) {
    std::copy_n(from, count, to);
  } else {
    std::fill_n(to, count, 0.0f);
  }
}

// Matrices packed one behind the other.
class Packer final {
 public:
  Packer(Precision precision, std::byte* memory) : precision_(precision), memory_(memory) {}

  PackedMatrix operator()(const Matrix& b, int64_t depth, int64_t columns) {
    const PackedMatrix made = {precision_, depth, columns, memory_};
    pack(precision_, b, depth, columns, memory_);
    memory_ += packed_bytes(precision_, depth, columns);
    return made;
  }

 private:
  Precision precision_;
  std::byte* memory_;
};

template <class T>
T* row_of(T* matrix, int64_t row, int64_t width) {
  return matrix ? matrix + row * width : nullptr;
}
template <class T>
T* row_of(const StepsOf<T>& s, int64_t item, int64_t step) {
  return s.data ? s.data + item * s.batch_stride + step * s.step_stride : nullptr;
}

}  // namespace fovea::kernels::recurrent
