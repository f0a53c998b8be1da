#include "fovea/kernels/recurrent.h"

#include <algorithm>
#include <vector>

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

// sums[column] = Σ rows[row * stride + column], row by row.
void sum_rows(int64_t rows, int64_t columns, const float* from, int64_t stride, float* sums) {
  over_row(columns, [&](int64_t j, auto load, auto store) HWY_ATTR {
    auto sum = hn::Zero(hn::ScalableTag<float>());
    for (int64_t r = 0; r < rows; ++r) sum = hn::Add(sum, load(from + r * stride + j));
    store(sum, sums + j);
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(cell_forward);
HWY_EXPORT(cell_backward);
HWY_EXPORT(sum_rows);

// The steps that exist, item after item: rows of the saved matrices. Products over whole sequences then meet no
// padding.
struct Rows {
  explicit Rows(const Recurrent& r) : first(static_cast<size_t>(r.shape.batch) + 1) {
    for (int64_t b = 0; b < r.shape.batch; ++b) {
      const int64_t length = r.lengths ? r.lengths[b] : r.shape.steps;
      require(length >= 0 && length <= r.shape.steps, "recurrent: found length {} of item {}, expected 0 to {}", length,
              b, r.shape.steps);
      first[static_cast<size_t>(b) + 1] = first[static_cast<size_t>(b)] + length;
    }
  }
  int64_t begin(int64_t item) const { return first[static_cast<size_t>(item)]; }
  int64_t length(int64_t item) const { return begin(item + 1) - begin(item); }
  int64_t count() const { return first.back(); }
  int64_t longest(int64_t begin, int64_t end) const {
    int64_t most = 0;
    for (int64_t b = begin; b < end; ++b) most = std::max(most, length(b));
    return most;
  }
  std::vector<int64_t> first;
};

// Four gates and a cache line, so that rows are no multiple of 4 KB apart.
int64_t gates_stride(const RecurrentShape& s) { return 4 * s.width + 16; }

struct Saved {
  Saved(const RecurrentShape& s, float* memory)
      : gates(memory),
        hidden(gates + s.batch * s.steps * gates_stride(s)),
        cell(hidden + s.batch * s.steps * s.width) {}
  float *gates, *hidden, *cell;
};

void check(const Recurrent& r) {
  const RecurrentShape& s = r.shape;
  require(s.batch >= 0 && s.steps >= 0 && s.inputs >= 0 && s.width > 0,
          "recurrent: found batch {}, steps {}, inputs {}, width {}, expected width above 0 and the others not below",
          s.batch, s.steps, s.inputs, s.width);
  require(r.weights.input && r.weights.hidden, "recurrent: found no weights, expected input and hidden weights");
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

void load_state(const float* from, int64_t width, int64_t begin, int64_t end, float* state) {
  if (from) {
    std::copy_n(from + begin * width, (end - begin) * width, state);
  } else {
    std::fill_n(state, (end - begin) * width, 0.0f);
  }
}

void store_state(const float* state, int64_t width, int64_t begin, int64_t end, float* to) {
  if (to) std::copy_n(state, (end - begin) * width, to + begin * width);
}

bool one_matrix(const Recurrent& r, int64_t batch_stride, int64_t step_stride) {
  return !r.lengths && batch_stride == r.shape.steps * step_stride;
}

// gates = x Wᵀ + b for all steps. The hidden bias of an LSTM is added here too; a GRU's belongs into its hidden
// product.
void input_product(const Recurrent& r, const Rows& rows, float* gates) {
  const RecurrentShape& s = r.shape;
  const int64_t columns = s.gates() * s.width, stride = gates_stride(s);
  Scratch scratch;
  const float* packed = r.weights.packed_input;
  if (!packed) {
    float* made = scratch.take<float>(packed_size(s.inputs, columns));
    pack({r.weights.input, 1, s.inputs}, s.inputs, columns, made);
    packed = made;
  }
  const float* bias = r.weights.input_bias;
  if (s.cell == RecurrentCell::lstm && r.weights.hidden_bias) {
    float* sum = scratch.take<float>(columns);
    for (int64_t j = 0; j < columns; ++j) sum[j] = (bias ? bias[j] : 0.0f) + r.weights.hidden_bias[j];
    bias = sum;
  }
  if (one_matrix(r, r.x.batch_stride, r.x.step_stride)) {
    return gemm({rows.count(), columns, s.inputs}, {r.x.data, r.x.step_stride, 1}, packed, {gates, stride},
                {.bias = bias});
  }
  parallel_for(s.batch, [&](int64_t b) {
    gemm_here({rows.length(b), columns, s.inputs}, {r.x.data + b * r.x.batch_stride, r.x.step_stride, 1}, packed,
              {gates + rows.begin(b) * stride, stride}, {.bias = bias});
  });
}

// The position at which an item stands in the s-th step of its walk.
int64_t position(const Recurrent& r, int64_t length, int64_t step) { return r.reverse ? length - 1 - step : step; }

void forward_block(const Recurrent& r, const Rows& rows, const float* packed_hidden, const Saved& saved,
                   const RecurrentOutputs& out, const Block& block) {
  const RecurrentShape& s = r.shape;
  const int64_t width = s.width, columns = s.gates() * width;
  const auto [begin, end, product_of] = block;
  const int64_t items = end - begin;
  Scratch scratch;
  float* hidden = scratch.take<float>(items * width);
  float* cell = scratch.take<float>(items * width);
  float* product = scratch.take<float>(items * (columns + 16));
  load_state(r.first_hidden, width, begin, end, hidden);
  load_state(r.first_cell, width, begin, end, cell);
  const Epilogue epilogue = {.bias = s.cell == RecurrentCell::gru ? r.weights.hidden_bias : nullptr};
  const int64_t last = rows.longest(begin, end);
  for (int64_t step = 0; step < last; ++step) {
    product_of({items, columns, width}, {hidden, width, 1}, packed_hidden, {product, columns + 16}, epilogue);
    for (int64_t i = 0; i < items; ++i) {
      const int64_t b = begin + i, length = rows.length(b);
      if (step >= length) continue;
      const int64_t t = position(r, length, step), row = rows.begin(b) + t;
      HWY_DYNAMIC_DISPATCH(cell_forward)
      (s.cell, width,
       {.gates = saved.gates + row * gates_stride(s),
        .product = product + i * (columns + 16),
        .hidden = hidden + i * width,
        .cell = cell + i * width,
        .saved_hidden = saved.hidden + row * width,
        .saved_cell = saved.cell + row * width,
        .y = out.y.data + b * out.y.batch_stride + t * out.y.step_stride});
    }
  }
  for (int64_t b = begin; b < end; ++b) {
    for (int64_t t = rows.length(b); t < s.steps; ++t) {
      std::fill_n(out.y.data + b * out.y.batch_stride + t * out.y.step_stride, width, 0.0f);
    }
  }
  store_state(hidden, width, begin, end, out.last_hidden);
  if (s.cell == RecurrentCell::lstm) store_state(cell, width, begin, end, out.last_cell);
}

// Gradients of the gates' arguments for all steps, and of the first state.
void backward_block(const Recurrent& r, const Rows& rows, const float* packed_back, const Saved& saved,
                    const RecurrentUpstream& up, const RecurrentGradients& out, float* dgates, const Block& block) {
  const RecurrentShape& s = r.shape;
  const int64_t width = s.width, columns = s.gates() * width;
  const auto [begin, end, product_of] = block;
  const int64_t items = end - begin;
  Scratch scratch;
  float* dhidden = scratch.take<float>(items * width);
  float* dcell = scratch.take<float>(items * width);
  float* dproduct = scratch.take<float>(items * (columns + 16));
  load_state(up.last_hidden, width, begin, end, dhidden);
  load_state(up.last_cell, width, begin, end, dcell);
  std::fill_n(dproduct, items * (columns + 16), 0.0f);
  for (int64_t step = rows.longest(begin, end) - 1; step >= 0; --step) {
    for (int64_t i = 0; i < items; ++i) {
      const int64_t b = begin + i, length = rows.length(b);
      if (step >= length) continue;
      const int64_t t = position(r, length, step), row = rows.begin(b) + t;
      HWY_DYNAMIC_DISPATCH(cell_backward)
      (s.cell, width,
       {.gates = saved.gates + row * gates_stride(s),
        .saved_hidden = saved.hidden + row * width,
        .saved_cell = saved.cell + row * width,
        .dy = up.y.data ? up.y.data + b * up.y.batch_stride + t * up.y.step_stride : nullptr,
        .dhidden = dhidden + i * width,
        .dcell = dcell + i * width,
        .dgates = dgates + row * gates_stride(s),
        .dproduct = dproduct + i * (columns + 16)});
    }
    product_of({items, width, columns}, {dproduct, columns + 16, 1}, packed_back, {dhidden, width}, {.add = true});
  }
  store_state(dhidden, width, begin, end, out.first_hidden);
  if (s.cell == RecurrentCell::lstm) store_state(dcell, width, begin, end, out.first_cell);
}

// dx = dgates W
void input_gradient(const Recurrent& r, const Rows& rows, const float* dgates, const MutableSequence& dx) {
  const RecurrentShape& s = r.shape;
  const int64_t depth = s.gates() * s.width, stride = gates_stride(s);
  Scratch scratch;
  float* packed = scratch.take<float>(packed_size(depth, s.inputs));
  pack({r.weights.input, s.inputs, 1}, depth, s.inputs, packed);
  if (one_matrix(r, dx.batch_stride, dx.step_stride)) {
    return gemm({rows.count(), s.inputs, depth}, {dgates, stride, 1}, packed, {dx.data, dx.step_stride});
  }
  parallel_for(s.batch, [&](int64_t b) {
    float* to = dx.data + b * dx.batch_stride;
    gemm_here({rows.length(b), s.inputs, depth}, {dgates + rows.begin(b) * stride, stride, 1}, packed,
              {to, dx.step_stride});
    for (int64_t t = rows.length(b); t < s.steps; ++t) std::fill_n(to + t * dx.step_stride, s.inputs, 0.0f);
  });
}

// dW = dgatesᵀ x, with x copied where its existing steps do not form one matrix.
void input_weight_gradient(const Recurrent& r, const Rows& rows, const float* dgates, float* dw) {
  const RecurrentShape& s = r.shape;
  Scratch scratch;
  Matrix x = {r.x.data, r.x.step_stride, 1};
  if (!one_matrix(r, r.x.batch_stride, r.x.step_stride)) {
    float* copy = scratch.take<float>(rows.count() * s.inputs);
    parallel_for(s.batch, [&](int64_t b) {
      for (int64_t t = 0; t < rows.length(b); ++t) {
        std::copy_n(r.x.data + b * r.x.batch_stride + t * r.x.step_stride, s.inputs,
                    copy + (rows.begin(b) + t) * s.inputs);
      }
    });
    x = {copy, s.inputs, 1};
  }
  gemm({s.gates() * s.width, s.inputs, rows.count()}, {dgates, 1, gates_stride(s)}, x, {dw, s.inputs});
}

// dU = dproductᵀ h. For a GRU the last gate's gradient stands one gate further.
void hidden_weight_gradient(const RecurrentShape& s, int64_t rows, const float* dgates, const float* hidden,
                            float* du) {
  const int64_t width = s.width, stride = gates_stride(s);
  const Matrix h = {hidden, width, 1};
  if (s.cell == RecurrentCell::lstm) return gemm({4 * width, width, rows}, {dgates, 1, stride}, h, {du, width});
  gemm({2 * width, width, rows}, {dgates, 1, stride}, h, {du, width});
  gemm({width, width, rows}, {dgates + 3 * width, 1, stride}, h, {du + 2 * width * width, width});
}

void bias_gradient(int64_t rows, int64_t columns, const float* dgates, int64_t stride, float* sums) {
  if (!sums) return;
  parallel_ranges((columns + 15) / 16, 4, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(sum_rows)
    (rows, std::min(16 * end, columns) - 16 * begin, dgates + 16 * begin, stride, sums + 16 * begin);
  });
}

}  // namespace

int64_t recurrent_saved_size(const RecurrentShape& s) { return s.batch * s.steps * (gates_stride(s) + 2 * s.width); }

void recurrent_forward(const Recurrent& r, const RecurrentOutputs& out) {
  check(r);
  const RecurrentShape& s = r.shape;
  const Rows rows(r);
  Scratch scratch;
  const Saved saved(s, out.saved ? out.saved : scratch.take<float>(recurrent_saved_size(s)));
  const float* packed = r.weights.packed_hidden;
  if (!packed) {
    float* made = scratch.take<float>(packed_size(s.width, s.gates() * s.width));
    pack({r.weights.hidden, 1, s.width}, s.width, s.gates() * s.width, made);
    packed = made;
  }
  input_product(r, rows, saved.gates);
  over_blocks(s.batch, [&](const Block& block) { forward_block(r, rows, packed, saved, out, block); });
}

void recurrent_backward(const Recurrent& r, const float* memory, const RecurrentUpstream& up,
                        const RecurrentGradients& out) {
  check(r);
  require(memory || recurrent_saved_size(r.shape) == 0,
          "recurrent_backward: found no saved values, expected those of the forward pass");
  const RecurrentShape& s = r.shape;
  const Rows rows(r);
  const Saved saved(s, const_cast<float*>(memory));
  const int64_t columns = s.gates() * s.width, stride = gates_stride(s);
  Scratch scratch;
  float* dgates = scratch.take<float>(rows.count() * stride);
  float* packed = scratch.take<float>(packed_size(columns, s.width));
  pack({r.weights.hidden, s.width, 1}, columns, s.width, packed);
  over_blocks(s.batch, [&](const Block& block) { backward_block(r, rows, packed, saved, up, out, dgates, block); });
  if (out.x.data) input_gradient(r, rows, dgates, out.x);
  if (out.input) input_weight_gradient(r, rows, dgates, out.input);
  if (out.hidden) hidden_weight_gradient(s, rows.count(), dgates, saved.hidden, out.hidden);
  bias_gradient(rows.count(), columns, dgates, stride, out.input_bias);
  if (s.cell == RecurrentCell::lstm) return bias_gradient(rows.count(), columns, dgates, stride, out.hidden_bias);
  if (!out.hidden_bias) return;
  bias_gradient(rows.count(), 2 * s.width, dgates, stride, out.hidden_bias);
  bias_gradient(rows.count(), s.width, dgates + 3 * s.width, stride, out.hidden_bias + 2 * s.width);
}

}  // namespace fovea::kernels
#endif
