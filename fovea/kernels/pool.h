// The largest and the sum of each column of a block of numbers, in one pass over them.
//
//   pool_columns({.rows = 64, .columns = 1024, .stride = 1024}, w, largest, sums);
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct PoolShape {
  int64_t rows = 0, columns = 0, stride = 0;  // at least one row; the stride leads from one to the next
};
void pool_columns(const PoolShape&, const float* x, float* largest, float* sums);

}  // namespace fovea::kernels
