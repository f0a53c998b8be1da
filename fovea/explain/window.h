// A window of an attention's weights, pooled: squares of 2ᴸ × 2ᴸ weights, the largest and the mean of each.
//
//   const Pooled seen = pooled(recording.at("decoder.2.self"), head, {.level = 3, .row = 4096, .column = 0});
//   seen.largest[row * seen.columns + column];                                        // level 0: the weights themselves
//
// One pass over all weights of a head gives its squares and the largest of each row: reduced(place, head, {.level = 7, .top = 16}).
//
// Of an attention that was kept as queries, keys and log-sum-exps nothing but the window is computed, w = exp(scale · q·k − lse);
// beside it, memory is that of the window's keys.
#pragma once

#include <vector>

#include "fovea/explain/recording.h"

namespace fovea {

struct Window {
  int64_t level = 0, row = 0, column = 0;  // where it begins, in weights
  int64_t rows = 256, columns = 256;       // how many squares, if there are so many
};

struct Pooled {
  int64_t rows = 0, columns = 0;               // of squares
  std::vector<float> largest = {}, mean = {};  // the mean is over the weights that there are, masked ones counting as 0
};

// Of the head heads[number]. An Error for windows that begin outside.
Pooled pooled(const RecordedPlace&, size_t number, const Window&);

// All of a head: its squares, and of each row the `top` largest weights, falling, equal ones by rising column; 0 and −1 where a row
// sees fewer.
struct ReduceOptions {
  int64_t level = 0, top = 0;
};
struct Reduced {
  Pooled squares = {};
  Tensor largest = {}, columns = {};  // [rows, top], f32 and i64
};
Reduced reduced(const RecordedPlace&, size_t number, const ReduceOptions&);

// [rows of the range, columns of the range]
Tensor weights_of(const KeptAttention::Parts&, Range rows, Range columns);

// The parts of heads[number] if they are all that its weights are made of; no tensors otherwise.
KeptAttention::Parts parts_of(const RecordedPlace&, size_t number);

}  // namespace fovea
