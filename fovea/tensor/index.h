// Picking elements by index, and joining tensors.
//
//   Tensor y = rows(table, ids);                       // an embedding: ids [batch, tokens] → [batch, tokens, width]
//   Tensor z = concat({a, b}, -1);
#pragma once

#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Indices are i64 and checked: one that is out of range is an Error, never a read beyond the end. rows, gather, concat,
// stack and split take every type.
// table[ids]: ids' shape + table's last axes. The id `still` adds nothing to the table's gradient; −1: there is none.
Tensor rows(const Tensor& table, const Tensor& ids, int64_t still = -1);
Tensor gather(const Tensor& x, int axis, const Tensor& index);  // y[i][j] = x[i][index[i][j]] for axis 1
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index,
                   const Tensor& source);  // y = x, y[i][index[i][j]] += source[i][j]
Tensor concat(const std::vector<Tensor>& parts, int axis);
Tensor stack(const std::vector<Tensor>& parts, int axis);                                 // along a new axis
std::vector<Tensor> split(const Tensor& x, int axis, const std::vector<int64_t>& sizes);  // views

}  // namespace fovea
