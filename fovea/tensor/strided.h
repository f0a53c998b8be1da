// Loops over tensors of one shape and different strides (0 where an axis is broadcast): axes that lie behind each other
// in every operand are joined, and the body runs on whole rows.
//
//   for_each_row<2>(y.shape(), {y.strides(), x.strides()}, [&](const auto& at, int64_t count, const auto& step) {
//     for (int64_t i = 0; i < count; ++i) out[at[0] + i * step[0]] = in[at[1] + i * step[1]];
//   });
#pragma once

#include <array>

#include "fovea/base/threads.h"
#include "fovea/tensor/shape.h"

namespace fovea {

template <int operands>
struct JoinedAxes {
  Shape shape;  // at least one axis
  std::array<Shape, operands> strides;

  JoinedAxes(const Shape& given, const std::array<Shape, operands>& given_strides) {
    for (int axis = 0; axis < given.rank(); ++axis) {
      if (given[axis] == 1) continue;
      bool joins = shape.rank() > 0;
      for (int o = 0; o < operands && joins; ++o) joins = strides[o][-1] == given_strides[o][axis] * given[axis];
      if (joins) {
        shape[-1] *= given[axis];
        for (int o = 0; o < operands; ++o) strides[o][-1] = given_strides[o][axis];
      } else {
        shape.push_back(given[axis]);
        for (int o = 0; o < operands; ++o) strides[o].push_back(given_strides[o][axis]);
      }
    }
    if (shape.rank() == 0) {
      shape.push_back(1);
      for (int o = 0; o < operands; ++o) strides[o].push_back(0);
    }
  }
};

// The strides that repeat a tensor of the given shape to the shape `to`.
inline Shape broadcast_strides(const Shape& given, const Shape& strides, const Shape& to) {
  Shape result = to;
  for (int axis = 1; axis <= to.rank(); ++axis) {
    bool repeats = axis > given.rank() || (given[-axis] == 1 && to[-axis] != 1);
    result[-axis] = repeats ? 0 : strides[-axis];
  }
  return result;
}

// body(offsets, count, steps): where the row begins in each operand, its length, and the stride within it in each. Rows
// are shared out over the threads, so bodies must write different elements.
template <int operands, class Body>
void for_each_row(const Shape& shape, const std::array<Shape, operands>& strides, Body&& body) {
  if (shape.elements() == 0) return;
  const JoinedAxes<operands> joined(shape, strides);
  const int outer = joined.shape.rank() - 1;
  const int64_t count = joined.shape[outer], rows = joined.shape.elements() / count;
  std::array<int64_t, operands> steps;
  for (int o = 0; o < operands; ++o) steps[o] = joined.strides[o][outer];

  constexpr int64_t grain = 16384;  // elements that are worth another thread
  if (rows == 1) {
    parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
      std::array<int64_t, operands> offsets;
      for (int o = 0; o < operands; ++o) offsets[o] = begin * steps[o];
      body(offsets, end - begin, steps);
    });
    return;
  }
  parallel_ranges(rows, 1 + grain / count, [&](int64_t begin, int64_t end) {
    std::array<int64_t, Shape::most> index{};
    int64_t rest = begin;
    for (int axis = outer - 1; axis >= 0; --axis) {
      index[axis] = rest % joined.shape[axis];
      rest /= joined.shape[axis];
    }
    for (int64_t row = begin; row < end; ++row) {
      std::array<int64_t, operands> offsets{};
      for (int axis = 0; axis < outer; ++axis) {
        for (int o = 0; o < operands; ++o) offsets[o] += index[axis] * joined.strides[o][axis];
      }
      body(offsets, count, steps);
      for (int axis = outer - 1; axis >= 0 && ++index[axis] == joined.shape[axis]; --axis) index[axis] = 0;
    }
  });
}

}  // namespace fovea
