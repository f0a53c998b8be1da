#include "fovea/kernels/recurrent.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/recurrent.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/cell-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void cell_forward(RecurrentCell cell, int64_t width, const CellForward& c) {
  return cell == RecurrentCell::lstm ? lstm_forward(width, c) : gru_forward(width, c);
}

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

HWY_EXPORT(cell_forward);
HWY_EXPORT(cell_backward);
HWY_EXPORT(sum_rows);

// How the matrices of one call lie in memory. Their rows are (step of the walk, item), so that the items of one step
// are a matrix of its own: [x, h] times [W; U] below each other is one product a step. Sixteen floats between rows keep
// the rows from being a multiple of 4 KB apart.
struct Layout {
  explicit Layout(const Recurrent& r)
      : lstm(r.shape.cell == RecurrentCell::lstm),
        width(r.shape.width),
        inputs(r.shape.inputs),
        batch(r.shape.batch),
        rows(r.shape.batch * r.shape.steps),
        gates(4 * width + 16),
        state(inputs + width + 16) {}
  bool lstm;
  int64_t width, inputs, batch, rows;
  int64_t gates, state;  // floats from row to row
};

// What the forward pass leaves: the gates' values, [x, h] and c before each step. Steps beyond an item's length are
// zeros.
struct Saved {
  Saved(const Layout& l, float* memory)
      : gates(memory), state(gates + l.rows * l.gates), cell(state + l.rows * l.state) {}
  float *gates, *state, *cell;
};

int64_t length_of(const Recurrent& r, int64_t item) { return r.lengths ? r.lengths[item] : r.shape.steps; }

// Where an item stands in the given step of its walk.
int64_t position(const Recurrent& r, int64_t item, int64_t step) {
  return r.reverse ? length_of(r, item) - 1 - step : step;
}

void check(const Recurrent& r) {
  const RecurrentShape& s = r.shape;
  require(s.batch >= 0 && s.steps >= 0 && s.inputs >= 0 && s.width > 0,
          "recurrent: found batch {}, steps {}, inputs {}, width {}, expected width above 0 and the others not below",
          s.batch, s.steps, s.inputs, s.width);
  require(r.weights.input && r.weights.hidden, "recurrent: found no weights, expected input and hidden weights");
  for (int64_t b = 0; b < s.batch; ++b) {
    require(length_of(r, b) >= 0 && length_of(r, b) <= s.steps,
            "recurrent: found length {} of item {}, expected 0 to {}", length_of(r, b), b, s.steps);
  }
}

// The items of a block go through all steps on one thread, since rows need not wait for each other. With too few items
// for that there is one block, whose products are spread over the threads step by step.
using Product = void (*)(const GemmShape&, const Matrix&, const float*, const Output&, const Epilogue&);
struct Block {
  int64_t begin, end;
  Product product;
};

template <class Body>
void over_blocks(int64_t batch, Body&& body) {
  const int64_t blocks = batch >= 4 * threads() ? threads() : 1;
  if (blocks == 1) return body(Block{0, batch, gemm});
  parallel_for(blocks, [&](int64_t i) { body(Block{batch * i / blocks, batch * (i + 1) / blocks, gemm_here}); });
}

void copy_or_zero(const float* from, int64_t count, float* to) {
  if (from) {
    std::copy_n(from, count, to);
  } else {
    std::fill_n(to, count, 0.0f);
  }
}

template <class T>
T* row_of(T* matrix, int64_t row, int64_t width) {
  return matrix ? matrix + row * width : nullptr;
}
template <class T>
T* row_of(const SequenceOf<T>& s, int64_t item, int64_t step) {
  return s.data ? s.data + item * s.batch_stride + step * s.step_stride : nullptr;
}

// [x, h] before the first step, and x before the others.
void load_inputs(const Recurrent& r, const Layout& l, const Saved& saved, const Block& block) {
  for (int64_t step = 0; step < r.shape.steps; ++step) {
    for (int64_t b = block.begin; b < block.end; ++b) {
      float* row = saved.state + (step * l.batch + b) * l.state;
      const bool there = step < length_of(r, b);
      copy_or_zero(there ? row_of(r.x, b, position(r, b, step)) : nullptr, l.inputs, row);
      if (step == 0) {
        copy_or_zero(row_of(r.first_hidden, b, l.width), l.width, row + l.inputs);
        if (l.lstm) copy_or_zero(row_of(r.first_cell, b, l.width), l.width, saved.cell + b * l.width);
      } else if (!there) {
        std::fill_n(row + l.inputs, l.width, 0.0f);
      }
    }
  }
}

// product = [x, h] [W; U]ᵀ for the items of one step; a GRU keeps the two parts of n apart.
void step_product(const Layout& l, const float* packed, const float* state, float* product, const Block& block) {
  const int64_t items = block.end - block.begin, depth = l.inputs + l.width, w = l.width;
  const Matrix both = {state, l.state, 1}, hidden = {state + l.inputs, l.state, 1};
  if (l.lstm) return block.product({items, 4 * w, depth}, both, packed, {product, l.gates}, {});
  block.product({items, 2 * w, depth}, both, packed, {product, l.gates}, {});
  packed += packed_size(depth, 2 * w);
  block.product({items, w, l.inputs}, both, packed, {product + 2 * w, l.gates}, {});
  packed += packed_size(l.inputs, w);
  block.product({items, w, w}, hidden, packed, {product + 3 * w, l.gates}, {});
}

struct ForwardCall {
  const Recurrent& r;
  const Layout& l;
  const Saved& saved;
  const RecurrentOutputs& out;
  const float *packed, *bias;
};

// One step of one item; the state after an item's last step goes to `last`, two rows of `width`.
void forward_item(const ForwardCall& call, int64_t step, int64_t b, const float* product, float* last) {
  const Layout& l = call.l;
  const int64_t row = step * l.batch + b, next = row + l.batch;
  const bool more = step + 1 < length_of(call.r, b);
  CellForward c = {.product = product,
                   .bias = call.bias,
                   .hidden = call.saved.state + row * l.state + l.inputs,
                   .cell = call.saved.cell + row * l.width,
                   .gates = call.saved.gates + row * l.gates,
                   .next_hidden = more ? call.saved.state + next * l.state + l.inputs : last,
                   .next_cell = more ? call.saved.cell + next * l.width : last + l.width,
                   .y = row_of(call.out.y, b, position(call.r, b, step))};
  HWY_DYNAMIC_DISPATCH(cell_forward)(call.r.shape.cell, l.width, c);
  if (more) return;
  if (call.out.last_hidden) std::copy_n(last, l.width, call.out.last_hidden + b * l.width);
  if (call.out.last_cell && l.lstm) std::copy_n(last + l.width, l.width, call.out.last_cell + b * l.width);
}

void forward_block(const ForwardCall& call, const Block& block) {
  const auto& [r, l, saved, out, packed, bias] = call;
  load_inputs(r, l, saved, block);
  Scratch scratch;
  float* product = scratch.take<float>((block.end - block.begin) * l.gates);
  float* last = scratch.take<float>(2 * l.width);
  for (int64_t step = 0; step < r.shape.steps; ++step) {
    step_product(l, packed, saved.state + (step * l.batch + block.begin) * l.state, product, block);
    for (int64_t b = block.begin; b < block.end; ++b) {
      if (step < length_of(r, b)) forward_item(call, step, b, product + (b - block.begin) * l.gates, last);
    }
  }
  for (int64_t b = block.begin; b < block.end; ++b) {
    for (int64_t t = length_of(r, b); t < r.shape.steps; ++t) std::fill_n(row_of(out.y, b, t), l.width, 0.0f);
    if (length_of(r, b) > 0) continue;
    if (out.last_hidden) copy_or_zero(row_of(r.first_hidden, b, l.width), l.width, out.last_hidden + b * l.width);
    if (out.last_cell && l.lstm) copy_or_zero(row_of(r.first_cell, b, l.width), l.width, out.last_cell + b * l.width);
  }
}

// The biases of the four columns of `product`.
void join_biases(const RecurrentWeights& w, const Layout& l, float* bias) {
  auto at = [](const float* b, int64_t j) { return b ? b[j] : 0.0f; };
  const int64_t summed = l.lstm ? 4 * l.width : 2 * l.width;
  for (int64_t j = 0; j < summed; ++j) bias[j] = at(w.input_bias, j) + at(w.hidden_bias, j);
  for (int64_t j = summed; j < 3 * l.width; ++j) {
    bias[j] = at(w.input_bias, j), bias[j + l.width] = at(w.hidden_bias, j);
  }
}

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
                        .dgates = dgates + row * l.gates};
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

int64_t recurrent_packed_size(const RecurrentShape& s) {
  if (s.cell == RecurrentCell::lstm) return packed_size(s.inputs + s.width, 4 * s.width);
  return packed_size(s.inputs + s.width, 2 * s.width) + packed_size(s.inputs, s.width) + packed_size(s.width, s.width);
}

void pack_recurrent(const RecurrentShape& s, const RecurrentWeights& weights, float* packed) {
  const int64_t w = s.width, depth = s.inputs + w, together = (s.cell == RecurrentCell::lstm ? 4 : 2) * w;
  const Matrix input = {weights.input, 1, s.inputs}, hidden = {weights.hidden, 1, w};
  pack(input, s.inputs, together, packed, depth);
  pack(hidden, w, together, packed + s.inputs * panel_width, depth);
  if (s.cell == RecurrentCell::lstm) return;
  packed += packed_size(depth, together);
  pack({input.data + 2 * w * s.inputs, 1, s.inputs}, s.inputs, w, packed);
  pack({hidden.data + 2 * w * w, 1, w}, w, w, packed + packed_size(s.inputs, w));
}

int64_t recurrent_saved_size(const RecurrentShape& s) {
  Recurrent r;
  r.shape = s;
  const Layout l(r);
  return l.rows * (l.gates + l.state + l.width);
}

void recurrent_forward(const Recurrent& r, const RecurrentOutputs& out) {
  check(r);
  const Layout l(r);
  Scratch scratch;
  const Saved saved(l, out.saved ? out.saved : scratch.take<float>(recurrent_saved_size(r.shape)));
  float* bias = scratch.take<float>(4 * l.width);
  join_biases(r.weights, l, bias);
  const float* packed = r.weights.packed;
  if (!packed) {
    float* made = scratch.take<float>(recurrent_packed_size(r.shape));
    pack_recurrent(r.shape, r.weights, made);
    packed = made;
  }
  const ForwardCall call = {r, l, saved, out, packed, bias};
  over_blocks(l.batch, [&](const Block& block) { forward_block(call, block); });
}

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
  bias_gradient(call, 0, (l.lstm ? 4 : 2) * l.width, out.hidden_bias);
  if (!l.lstm) bias_gradient(call, 3 * l.width, l.width, out.hidden_bias + 2 * l.width);
}

}  // namespace fovea::kernels
#endif
