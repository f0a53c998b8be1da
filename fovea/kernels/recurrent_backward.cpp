#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/gemm.h"
#include "fovea/kernels/recurrent.h"
#include "fovea/kernels/recurrent_layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/recurrent_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/cell-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void cell_backward(RecurrentCell cell, int64_t width, const CellBackward& c) {
  return cell == RecurrentCell::lstm ? lstm_backward(width, c) : gru_backward(width, c);
}

// sums[column] = Σ from[row * stride + column], row by row: memory is read in order, the sums stay in the first-level
// cache.
void sum_rows(int64_t rows, int64_t columns, const float* from, int64_t stride, float* sums) {
  std::fill_n(sums, columns, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    over_row(columns, [&](int64_t j, auto load, auto store)
                          HWY_ATTR { store(hn::Add(load(sums + j), load(from + r * stride + j)), sums + j); });
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

using namespace recurrent;
HWY_EXPORT(cell_backward);
HWY_EXPORT(sum_rows);

struct BackwardCall {
  const Recurrent& r;
  const Layout& l;
  const Saved& saved;
  const RecurrentUpstream& up;
  const RecurrentGradients& out;
  const float* packed;
  float* dgates;
};

// [dh, dx] = dgates [U, W] for the items of one step; a GRU's n has another gradient towards h than towards x.
void step_gradient(const BackwardCall& call, const float* dgates, float* dstate, const Block& block) {
  const Layout& l = call.l;
  const int64_t items = block.end - block.begin, w = l.width;
  const float* packed = call.packed;
  if (l.lstm) return block.product({items, w + l.inputs, 4 * w}, {dgates, l.gates, 1}, packed, {dstate, l.state}, {});
  block.product({items, w, 2 * w}, {dgates, l.gates, 1}, packed, {dstate, l.state}, {});
  packed += packed_size(2 * w, w);
  block.product({items, w, w}, {dgates + 3 * w, l.gates, 1}, packed, {dstate, l.state}, {.add = true});
  packed += packed_size(w, w);
  block.product({items, l.inputs, 3 * w}, {dgates, l.gates, 1}, packed, {dstate + w, l.state}, {});
}

// Gradients of the gates' arguments for all steps, of x and of the first state.
void backward_block(const BackwardCall& call, const Block& block) {
  const auto& [r, l, saved, up, out, packed, dgates] = call;
  const int64_t width = l.width;
  Scratch scratch;
  float* dstate = scratch.take<float>((block.end - block.begin) * l.state);
  float* dcarried = scratch.take<float>((block.end - block.begin) * width);
  for (int64_t b = block.begin; b < block.end; ++b) {
    copy_or_zero(l.lstm ? row_of(up.last_cell, b, width) : nullptr, width, dcarried + (b - block.begin) * width);
  }
  for (int64_t step = r.shape.steps - 1; step >= 0; --step) {
    for (int64_t b = block.begin; b < block.end; ++b) {
      const int64_t row = step * l.batch + b, length = length_of(r, b);
      if (step >= length) {
        std::fill_n(dgates + row * l.gates, 4 * width, 0.0f);
        continue;
      }
      const bool last = step + 1 == length;
      CellBackward c = {.gates = saved.gates + row * l.gates,
                        .hidden = saved.state + row * l.state + l.inputs,
                        .cell = saved.cell + row * width,
                        .dy = row_of(up.y, b, position(r, b, step)),
                        .dhidden = last ? row_of(up.last_hidden, b, width) : dstate + (b - block.begin) * l.state,
                        .dcarried = dcarried + (b - block.begin) * width,
                        .dgates = dgates + row * l.gates,
                        .ahead = l.gates};
      HWY_DYNAMIC_DISPATCH(cell_backward)(r.shape.cell, width, c);
    }
    step_gradient(call, dgates + (step * l.batch + block.begin) * l.gates, dstate, block);
    for (int64_t b = block.begin; out.x.data && b < block.end; ++b) {
      if (step >= length_of(r, b)) continue;
      std::copy_n(dstate + (b - block.begin) * l.state + width, l.inputs, row_of(out.x, b, position(r, b, step)));
    }
  }
  for (int64_t b = block.begin; b < block.end; ++b) {
    for (int64_t t = length_of(r, b); out.x.data && t < r.shape.steps; ++t)
      std::fill_n(row_of(out.x, b, t), l.inputs, 0.0f);
    const bool walked = length_of(r, b) > 0;
    const float* carried = dcarried + (b - block.begin) * width;
    const float* dh = walked ? dstate + (b - block.begin) * l.state : row_of(up.last_hidden, b, width);
    if (out.first_hidden) {
      for (int64_t j = 0; j < width; ++j) {
        out.first_hidden[b * width + j] = (dh ? dh[j] : 0.0f) + (l.lstm ? 0.0f : carried[j]);
      }
    }
    if (out.first_cell && l.lstm) std::copy_n(carried, width, out.first_cell + b * width);
  }
}

// Rows [begin, end) of [dW, dU] = dgatesᵀ [x, h], columns of dgates from `from` on; either half may be unwanted.
void weight_gradient(const BackwardCall& call, int64_t begin, int64_t end, int64_t from, const float* packed) {
  const auto& [r, l, saved, up, out, packed_back, dgates] = call;
  const int64_t columns = l.inputs + l.width, rows = end - begin;
  Scratch scratch;
  float* both = scratch.take<float>(rows * (columns + 16));
  gemm({rows, columns, l.rows}, {dgates + from, 1, l.gates}, packed, {both, columns + 16});
  parallel_ranges(rows, 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const float* row = both + i * (columns + 16);
      if (out.input) std::copy_n(row, l.inputs, out.input + (begin + i) * l.inputs);
      if (out.hidden) std::copy_n(row + l.inputs, l.width, out.hidden + (begin + i) * l.width);
    }
  });
}

void weight_gradients(const BackwardCall& call) {
  const auto& [r, l, saved, up, out, packed_back, dgates] = call;
  const int64_t w = l.width;
  Scratch scratch;
  float* packed = scratch.take<float>(packed_size(l.rows, l.inputs + w));
  pack({saved.state, l.state, 1}, l.rows, l.inputs + w, packed);
  if (l.lstm) return weight_gradient(call, 0, 4 * w, 0, packed);
  weight_gradient(call, 0, 2 * w, 0, packed);
  const Matrix dn = {dgates + 2 * w, 1, l.gates}, du = {dgates + 3 * w, 1, l.gates};
  if (out.input) {
    gemm({w, l.inputs, l.rows}, dn, Matrix{saved.state, l.state, 1}, {out.input + 2 * w * l.inputs, l.inputs});
  }
  if (out.hidden) gemm({w, w, l.rows}, du, Matrix{saved.state + l.inputs, l.state, 1}, {out.hidden + 2 * w * w, w});
}

void bias_gradient(const BackwardCall& call, int64_t from, int64_t columns, float* sums) {
  if (!sums) return;
  parallel_ranges((columns + 15) / 16, 4, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(sum_rows)
    (call.l.rows, std::min(16 * end, columns) - 16 * begin, call.dgates + from + 16 * begin, call.l.gates,
     sums + 16 * begin);
  });
}

// U and W beside each other (LSTM), or U of r and z, U of n, and W (GRU): what step_gradient multiplies with.
float* pack_backward(const Recurrent& r, const Layout& l, Scratch& scratch) {
  const int64_t w = l.width, columns = w + l.inputs;
  const Matrix input = {r.weights.input, l.inputs, 1}, hidden = {r.weights.hidden, w, 1};
  if (l.lstm && w % panel_width == 0) {
    float* packed = scratch.take<float>(packed_size(4 * w, columns));
    pack(hidden, 4 * w, w, packed);
    pack(input, 4 * w, l.inputs, packed + packed_size(4 * w, w));
    return packed;
  }
  if (l.lstm) {
    float* beside = scratch.take<float>(4 * w * columns);
    for (int64_t i = 0; i < 4 * w; ++i) {
      std::copy_n(hidden.data + i * w, w, beside + i * columns);
      std::copy_n(input.data + i * l.inputs, l.inputs, beside + i * columns + w);
    }
    float* packed = scratch.take<float>(packed_size(4 * w, columns));
    pack({beside, columns, 1}, 4 * w, columns, packed);
    return packed;
  }
  const int64_t first = packed_size(2 * w, w), second = packed_size(w, w);
  float* packed = scratch.take<float>(first + second + packed_size(3 * w, l.inputs));
  pack(hidden, 2 * w, w, packed);
  pack({hidden.data + 2 * w * w, w, 1}, w, w, packed + first);
  pack(input, 3 * w, l.inputs, packed + first + second);
  return packed;
}

}  // namespace

void recurrent_backward(const Recurrent& r, const float* memory, const RecurrentUpstream& up,
                        const RecurrentGradients& out) {
  check(r);
  const Layout l(r);
  require(memory || l.rows == 0, "recurrent_backward: found no saved values, expected those of the forward pass");
  const Saved saved(l, const_cast<float*>(memory));
  Scratch scratch;
  float* dgates = scratch.take<float>(l.rows * l.gates);
  const BackwardCall call = {r, l, saved, up, out, pack_backward(r, l, scratch), dgates};
  over_blocks(l.batch, [&](const Block& block) { backward_block(call, block); });
  if (out.input || out.hidden) weight_gradients(call);
  bias_gradient(call, 0, r.shape.gates() * l.width, out.input_bias);
  if (!out.hidden_bias) return;
  if (l.lstm && out.input_bias) {
    std::copy_n(out.input_bias, 4 * l.width, out.hidden_bias);
    return;
  }
  bias_gradient(call, 0, (l.lstm ? 4 : 2) * l.width, out.hidden_bias);
  if (!l.lstm) bias_gradient(call, 3 * l.width, l.width, out.hidden_bias + 2 * l.width);
}

}  // namespace fovea::kernels
#endif
