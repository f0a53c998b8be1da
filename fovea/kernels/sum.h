// Sums of rows and of columns. Long ones are sums of the sums of fixed pieces, so that rounding errors stay small and
// the order does not depend on the threads.
//
//   column_sums({.rows = tokens, .columns = width, .stride = width}, dy, dbias);
#pragma once

#include <cstdint>

namespace fovea::kernels {

// A matrix of floats with contiguous rows, `stride` apart.
struct Rows {
  int64_t rows = 0, columns = 0, stride = 0;
};

void row_sums(const Rows&, const float* x, float* sums);     // sums [rows]
void column_sums(const Rows&, const float* x, float* sums);  // sums [columns]

}  // namespace fovea::kernels
