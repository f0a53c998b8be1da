// Matrix products: C[rows, columns] = finish(A[rows, depth] · B[depth, columns]), B packed into panels of 16 columns.
//
//   pack(b, depth, columns, packed);                                    // once per weight
//   gemm({.rows = 512, .columns = 768, .depth = 768}, a, packed, {c, 768},
//        {.bias = bias, .activation = Activation::gelu});
//
// Each element of C is one sum over depth in rising order, whatever the tile, the number of rows or of threads: a row's
// bits depend on that row alone. The same kernel serves the forward pass and both gradients, since A is read through
// strides:
//   y  = x Wᵀ   A = x,   B = Wᵀ        dx = dy W   A = dy,  B = W        dW = dyᵀ x   A = dyᵀ,  B = x
#pragma once

#include <cstdint>

#include "fovea/base/precision.h"
#include "fovea/kernels/activation.h"

namespace fovea::kernels {

inline constexpr int64_t panel_width = 16;

// Element (row, column) of a matrix is data[row * row_stride + column * column_stride].
struct Matrix {
  const float* data = nullptr;
  int64_t row_stride = 0, column_stride = 1;
};

struct Output {
  float* data = nullptr;
  int64_t row_stride = 0;
};

struct GemmShape {
  int64_t rows = 0, columns = 0, depth = 0;
};

// What happens to a sum before it is stored:  C = activation(sum + bias + (add ? C : 0)) + residual
struct Epilogue {
  const float* bias = nullptr;  // [columns]
  bool add = false;             // C holds a first summand
  Activation activation = Activation::none;
  Output before = {};    // where the argument of the activation is kept for its gradient, or nothing
  Matrix residual = {};  // [rows, columns] with contiguous rows, or nothing
};

// Floats that a packed [depth, columns] matrix takes: panels [⌈columns / 16⌉][depth][16], the last one filled with
// zeros.
int64_t packed_size(int64_t depth, int64_t columns);
void pack(const Matrix& b, int64_t depth, int64_t columns, float* packed);

// The same into panels of a greater depth, from `packed` on: matrices packed so below each other are multiplied as one.
void pack(const Matrix& b, int64_t depth, int64_t columns, float* packed, int64_t panel_depth);

void gemm(const GemmShape&, const Matrix& a, const float* packed, const Output& c, const Epilogue& = {});

// The same on the calling thread alone, for the body of a parallel_for: nothing is cut into tasks. Same bits.
void gemm_here(const GemmShape&, const Matrix& a, const float* packed, const Output& c, const Epilogue& = {});

// The same with B as it comes: packs into scratch memory first, in whatever precision packed.h has.
void gemm(const GemmShape&, const Matrix& a, const Matrix& b, const Output& c, const Epilogue& = {},
          Precision = Precision::f32);

// Many products of one shape; the strides lead from one problem to the next (0 shares an operand). Parallel over
// problems too.
struct BatchStrides {
  int64_t a = 0, b = 0, c = 0;
};
void batched_gemm(int64_t count, const GemmShape&, const Matrix& a, const Matrix& b, const Output& c,
                  const BatchStrides&, bool add = false);

}  // namespace fovea::kernels
