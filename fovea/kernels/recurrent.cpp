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
void load_inputs(const Recurrent& r, const Layout& l, const Saved& saved) {
  over_items({0, l.batch}, [&](int64_t b) {
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

// gates += U h for the items of one step; a GRU keeps the two parts of n apart.
void step_product(const Layout& l, const RecurrentMatrices& packed, const float* hidden, float* gates,
                  const Block& block) {
  const kernels::Product products[] = {{packed.hidden, {gates, l.gates}, {.add = true}},
                                       {packed.candidate, {gates + 3 * l.width, l.gates}}};
  multiply(block.end - block.begin, {hidden, l.state, 1}, std::span(products, l.lstm ? 1 : 2));
}

struct ForwardCall {
  const Recurrent& r;
  const Layout& l;
  const Saved& saved;
  const RecurrentOutputs& out;
  const RecurrentMatrices& packed;
  const float* bias;  // the sums of the biases
};

// One step of one item; the state after an item's last step goes to `last`, two rows of `width`.
void forward_item(const ForwardCall& call, int64_t step, int64_t b, float* last) {
  const Layout& l = call.l;
  const int64_t row = step * l.batch + b, next = row + l.batch;
  const bool more = step + 1 < length_of(call.r, b);
  CellForward c = {.gates = call.saved.gates + row * l.gates,
                   .bias = call.bias,
                   .hidden = call.saved.state + row * l.state + l.inputs,
                   .cell = call.saved.cell + row * l.width,
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
  Scratch scratch;
  float* last = scratch.take<float>((block.end - block.begin) * 2 * l.width);
  for (int64_t step = 0; step < r.shape.steps; ++step) {
    const int64_t row = step * l.batch + block.begin;
    step_product(l, call.packed, saved.state + row * l.state + l.inputs, saved.gates + row * l.gates, block);
    over_items(block, [&](int64_t b) {
      if (step < length_of(r, b)) forward_item(call, step, b, last + (b - block.begin) * 2 * l.width);
    });
  }
  for (int64_t b = block.begin; b < block.end; ++b) {
    for (int64_t t = length_of(r, b); t < r.shape.steps; ++t) std::fill_n(row_of(out.y, b, t), l.width, 0.0f);
    if (length_of(r, b) > 0) continue;
    if (out.last_hidden) copy_or_zero(row_of(r.first_hidden, b, l.width), l.width, out.last_hidden + b * l.width);
    if (out.last_cell && l.lstm) copy_or_zero(row_of(r.first_cell, b, l.width), l.width, out.last_cell + b * l.width);
  }
}

// The biases of the four gates, as CellForward has them.
void join_biases(const RecurrentWeights& w, const Layout& l, float* bias) {
  auto at = [](const float* b, int64_t j) { return b ? b[j] : 0.0f; };
  const int64_t summed = l.lstm ? 4 * l.width : 2 * l.width;
  for (int64_t j = 0; j < summed; ++j) bias[j] = at(w.input_bias, j) + at(w.hidden_bias, j);
  for (int64_t j = summed; j < 3 * l.width; ++j) {
    bias[j] = at(w.input_bias, j), bias[j + l.width] = at(w.hidden_bias, j);
  }
}

}  // namespace

int64_t recurrent_packed_bytes(const RecurrentShape& s) {
  const auto bytes = [&](int64_t depth, int64_t columns) { return packed_bytes(s.precision, depth, columns); };
  const int64_t input = bytes(s.inputs, s.gates() * s.width);
  if (s.cell == RecurrentCell::lstm) return input + bytes(s.width, 4 * s.width);
  return input + bytes(s.width, 2 * s.width) + bytes(s.width, s.width);
}

// W, and behind it U: whole (LSTM), or r and z, and n (GRU).
RecurrentMatrices pack_recurrent(const RecurrentShape& s, const RecurrentWeights& weights, std::byte* packed) {
  const int64_t w = s.width, summed = (s.cell == RecurrentCell::lstm ? 4 : 2) * w;
  Packer next(s.precision, packed);
  RecurrentMatrices made;
  made.input = next({weights.input, 1, s.inputs}, s.inputs, s.gates() * w);
  made.hidden = next({weights.hidden, 1, w}, w, summed);
  if (s.cell == RecurrentCell::gru) made.candidate = next({weights.hidden + 2 * w * w, 1, w}, w, w);
  return made;
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
  const RecurrentMatrices packed =
      r.weights.packed ? *r.weights.packed
                       : pack_recurrent(r.shape, r.weights, scratch.take<std::byte>(recurrent_packed_bytes(r.shape)));
  load_inputs(r, l, saved);
  // W x needs no step before it: one product for all steps.
  multiply(l.rows, {saved.state, l.state, 1}, packed.input, {saved.gates, l.gates});
  const ForwardCall call = {r, l, saved, out, packed, bias};
  over_blocks(r.shape, [&](const Block& block) { forward_block(call, block); });
}

}  // namespace fovea::kernels
#endif
