#include "fovea/kernels/recurrent.h"

#include <algorithm>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/gemm.h"
#include "fovea/kernels/recurrent_layout.h"

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

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

using namespace recurrent;
HWY_EXPORT(cell_forward);

// [x, h] before the first step, and x before the others.
void load_inputs(const Recurrent& r, const Layout& l, const Saved& saved, const Block& block) {
  over_items(block, [&](int64_t b) {
    for (int64_t step = 0; step < r.shape.steps; ++step) {
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
  });
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
                   .y = row_of(call.out.y, b, position(call.r, b, step)),
                   .ahead = l.gates};
  HWY_DYNAMIC_DISPATCH(cell_forward)(call.r.shape.cell, l.width, c);
  if (more) return;
  if (call.out.last_hidden) std::copy_n(last, l.width, call.out.last_hidden + b * l.width);
  if (call.out.last_cell && l.lstm) std::copy_n(last + l.width, l.width, call.out.last_cell + b * l.width);
}

void forward_block(const ForwardCall& call, const Block& block) {
  const Recurrent& r = call.r;
  const Layout& l = call.l;
  const Saved& saved = call.saved;
  const RecurrentOutputs& out = call.out;
  const float* packed = call.packed;
  load_inputs(r, l, saved, block);
  Scratch scratch;
  float* product = scratch.take<float>((block.end - block.begin) * l.gates);
  float* last = scratch.take<float>((block.end - block.begin) * 2 * l.width);
  for (int64_t step = 0; step < r.shape.steps; ++step) {
    step_product(l, packed, saved.state + (step * l.batch + block.begin) * l.state, product, block);
    over_items(block, [&](int64_t b) {
      const int64_t i = b - block.begin;
      if (step < length_of(r, b)) forward_item(call, step, b, product + i * l.gates, last + i * 2 * l.width);
    });
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
  const Layout l(s);
  return l.rows * (l.gates + l.state + l.width);
}

void recurrent_forward(const Recurrent& r, const RecurrentOutputs& out) {
  check(r);
  const Layout l(r.shape);
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
  over_blocks(r.shape, [&](const Block& block) { forward_block(call, block); });
}

}  // namespace fovea::kernels
#endif
