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
    for_each_vector(columns, [&](int64_t j, auto part) HWY_ATTR {
      part.store(hn::Add(part.load(sums + j), part.load(from + r * stride + j)), sums + j);
    });
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
  const RecurrentMatrices& packed;
  float* dgates;
};

// dh = dgates U for the items of one step; a GRU's n has another gradient towards h than towards x.
void step_gradient(const BackwardCall& call, const float* dgates, float* dhidden, const Block& block) {
  const Layout& l = call.l;
  const int64_t items = block.end - block.begin, w = l.width;
  multiply(items, {dgates, l.gates, 1}, call.packed.hidden, {dhidden, w});
  if (!l.lstm) multiply(items, {dgates + 3 * w, l.gates, 1}, call.packed.candidate, {dhidden, w}, {.add = true});
}

// dx = dgates W, one product for all steps, and from the order of the walk to that of x.
void input_gradients(const BackwardCall& call) {
  const Recurrent& r = call.r;
  const Layout& l = call.l;
  Scratch scratch;
  float* dx = scratch.take<float>(l.rows * l.inputs);
  multiply(l.rows, {call.dgates, l.gates, 1}, call.packed.input, {dx, l.inputs});
  over_items({0, l.batch}, [&](int64_t b) {
    for (int64_t step = 0; step < r.shape.steps; ++step) {
      const bool there = step < length_of(r, b);
      copy_or_zero(there ? dx + (step * l.batch + b) * l.inputs : nullptr, l.inputs,
                   row_of(call.out.x, b, there ? position(r, b, step) : step));
    }
  });
}

// Gradients of the gates' arguments for all steps, and of the first state.
void backward_block(const BackwardCall& call, const Block& block) {
  const Recurrent& r = call.r;
  const Layout& l = call.l;
  const Saved& saved = call.saved;
  const RecurrentUpstream& up = call.up;
  const RecurrentGradients& out = call.out;
  float* dgates = call.dgates;
  const int64_t width = l.width;
  Scratch scratch;
  float* dhidden = scratch.take<float>((block.end - block.begin) * width);
  float* dcarried = scratch.take<float>((block.end - block.begin) * width);
  for (int64_t b = block.begin; b < block.end; ++b) {
    copy_or_zero(l.lstm ? row_of(up.last_cell, b, width) : nullptr, width, dcarried + (b - block.begin) * width);
  }
  for (int64_t step = r.shape.steps - 1; step >= 0; --step) {
    over_items(block, [&](int64_t b) {
      const int64_t row = step * l.batch + b, length = length_of(r, b);
      if (step >= length) {
        std::fill_n(dgates + row * l.gates, 4 * width, 0.0f);
        return;
      }
      const bool last = step + 1 == length;
      CellBackward c = {.gates = saved.gates + row * l.gates,
                        .hidden = saved.state + row * l.state + l.inputs,
                        .cell = saved.cell + row * width,
                        .dy = row_of(up.y, b, position(r, b, step)),
                        .dhidden = last ? row_of(up.last_hidden, b, width) : dhidden + (b - block.begin) * width,
                        .dcarried = dcarried + (b - block.begin) * width,
                        .dgates = dgates + row * l.gates,
                        .ahead = l.gates};
      HWY_DYNAMIC_DISPATCH(cell_backward)(r.shape.cell, width, c);
    });
    step_gradient(call, dgates + (step * l.batch + block.begin) * l.gates, dhidden, block);
  }
  for (int64_t b = block.begin; b < block.end; ++b) {
    const bool walked = length_of(r, b) > 0;
    const float* carried = dcarried + (b - block.begin) * width;
    const float* dh = walked ? dhidden + (b - block.begin) * width : row_of(up.last_hidden, b, width);
    if (out.first_hidden) {
      for (int64_t j = 0; j < width; ++j) {
        out.first_hidden[b * width + j] = (dh ? dh[j] : 0.0f) + (l.lstm ? 0.0f : carried[j]);
      }
    }
    if (out.first_cell && l.lstm) std::copy_n(carried, width, out.first_cell + b * width);
  }
}

// What the gradients of the weights are made of: the gates' gradients of all rows, and [x, h] in packed panels.
struct WeightCall {
  const Layout& l;
  int64_t rows;
  const float* dgates;
  PackedMatrix inputs, hidden;
  const RecurrentGradients& out;
};

// Rows [begin, begin + rows) of dW = dgatesᵀ x and of dU = dgatesᵀ h, from the columns `from` of dgates.
struct GateRows {
  int64_t begin, rows, from;
};

void input_gradient(const WeightCall& c, const GateRows& g) {
  if (!c.out.input) return;
  multiply(g.rows, {c.dgates + g.from, 1, c.l.gates}, c.inputs, {c.out.input + g.begin * c.l.inputs, c.l.inputs});
}

void hidden_gradient(const WeightCall& c, const GateRows& g) {
  if (!c.out.hidden) return;
  multiply(g.rows, {c.dgates + g.from, 1, c.l.gates}, c.hidden, {c.out.hidden + g.begin * c.l.width, c.l.width});
}

// [x, h] of all calls, row below row.
const float* states_of(const Layout& l, std::span<const float* const> saved, Scratch& scratch) {
  const auto state_of = [&](size_t call) { return Saved(l, const_cast<float*>(saved[call])).state; };
  if (saved.size() == 1) return state_of(0);
  float* all = scratch.take<float>(static_cast<int64_t>(saved.size()) * l.rows * l.state);
  parallel_for(static_cast<int64_t>(saved.size()), [&](int64_t i) {
    std::copy_n(state_of(static_cast<size_t>(i)), l.rows * l.state, all + i * l.rows * l.state);
  });
  return all;
}

void bias_gradient(const WeightCall& call, int64_t from, int64_t columns, float* sums) {
  if (!sums) return;
  parallel_ranges((columns + 15) / 16, 4, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(sum_rows)
    (call.rows, std::min(16 * end, columns) - 16 * begin, call.dgates + from + 16 * begin, call.l.gates,
     sums + 16 * begin);
  });
}

void bias_gradients(const WeightCall& call) {
  const auto& [l, rows, dgates, inputs, hidden, out] = call;
  bias_gradient(call, 0, (l.lstm ? 4 : 3) * l.width, out.input_bias);
  if (!out.hidden_bias) return;
  if (l.lstm && out.input_bias) {
    std::copy_n(out.input_bias, 4 * l.width, out.hidden_bias);
    return;
  }
  bias_gradient(call, 0, (l.lstm ? 4 : 2) * l.width, out.hidden_bias);
  if (!l.lstm) bias_gradient(call, 3 * l.width, l.width, out.hidden_bias + 2 * l.width);
}

}  // namespace

int64_t recurrent_packed_backward_bytes(const RecurrentShape& s) {
  const auto bytes = [&](int64_t depth, int64_t columns) { return packed_bytes(s.precision, depth, columns); };
  const int64_t w = s.width, input = bytes(s.gates() * w, s.inputs);
  if (s.cell == RecurrentCell::lstm) return input + bytes(4 * w, w);
  return input + bytes(2 * w, w) + bytes(w, w);
}

// W, and behind it U, as in pack_recurrent.
RecurrentMatrices pack_recurrent_backward(const RecurrentShape& s, const RecurrentWeights& weights, std::byte* packed) {
  const int64_t w = s.width, summed = (s.cell == RecurrentCell::lstm ? 4 : 2) * w;
  Packer next(s.precision, packed);
  RecurrentMatrices made;
  made.input = next({weights.input, s.inputs, 1}, s.gates() * w, s.inputs);
  made.hidden = next({weights.hidden, w, 1}, summed, w);
  if (s.cell == RecurrentCell::gru) made.candidate = next({weights.hidden + 2 * w * w, w, 1}, w, w);
  return made;
}

int64_t recurrent_gates_size(const RecurrentShape& s) {
  const Layout l(s);
  return l.rows * l.gates;
}

void recurrent_weight_gradients(const RecurrentShape& s, std::span<const float* const> saved, const float* gates,
                                const RecurrentGradients& out) {
  const Layout l(s);
  const int64_t rows = static_cast<int64_t>(saved.size()) * l.rows, w = l.width;
  Scratch scratch;
  const float* states = states_of(l, saved, scratch);
  const auto packed = [&](const float* from, int64_t columns) {
    std::byte* memory = scratch.take<std::byte>(packed_bytes(s.precision, rows, columns));
    pack(s.precision, {from, l.state, 1}, rows, columns, memory);
    return PackedMatrix{s.precision, rows, columns, memory};
  };
  const WeightCall call = {l,
                           rows,
                           gates,
                           out.input ? packed(states, l.inputs) : PackedMatrix(),
                           out.hidden ? packed(states + l.inputs, w) : PackedMatrix(),
                           out};
  input_gradient(call, {0, (l.lstm ? 4 : 3) * w, 0});
  hidden_gradient(call, {0, (l.lstm ? 4 : 2) * w, 0});
  if (!l.lstm) hidden_gradient(call, {2 * w, w, 3 * w});
  bias_gradients(call);
}

void recurrent_backward(const Recurrent& r, const float* memory, const RecurrentUpstream& up,
                        const RecurrentGradients& out) {
  check(r);
  const Layout l(r.shape);
  require(memory || l.rows == 0, "recurrent_backward: found no saved values, expected those of the forward pass");
  const Saved saved(l, const_cast<float*>(memory));
  Scratch scratch;
  float* dgates = out.gates ? out.gates : scratch.take<float>(l.rows * l.gates);
  const RecurrentMatrices packed =
      r.weights.packed_backward
          ? *r.weights.packed_backward
          : pack_recurrent_backward(r.shape, r.weights,
                                    scratch.take<std::byte>(recurrent_packed_backward_bytes(r.shape)));
  const BackwardCall call = {r, l, saved, up, out, packed, dgates};
  over_blocks(r.shape, [&](const Block& block) { backward_block(call, block); });
  if (out.x.data) input_gradients(call);
  if (out.input || out.hidden || out.input_bias || out.hidden_bias)
    recurrent_weight_gradients(r.shape, {&memory, 1}, dgates, out);
}

}  // namespace fovea::kernels
#endif
