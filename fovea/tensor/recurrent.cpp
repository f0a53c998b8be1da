#include "fovea/tensor/recurrent.h"

#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

using kernels::RecurrentCell;

const char* name_of(RecurrentCell cell) { return cell == RecurrentCell::lstm ? "lstm" : "gru"; }

void check_operand(RecurrentCell cell, const char* what, const Tensor& found, const Shape& shape, DType type) {
  require(found.shape() == shape && found.dtype() == type, "{}: found {} {} {}, expected {} {}", name_of(cell), what,
          name(found.dtype()), found.shape(), name(type), shape);
}

kernels::RecurrentShape checked_shape(RecurrentCell cell, const Tensor& x, const CellWeights& w,
                                      const RecurrentWalk& walk) {
  require(x.rank() == 3, "{}: found x {}, expected [batch, steps, inputs]", name_of(cell), x.shape());
  require(w.hidden.rank() == 2 && w.hidden.size(1) > 0, "{}: found hidden weights {}, expected [gates · width, width]",
          name_of(cell), w.hidden.shape());
  const kernels::RecurrentShape s = {cell, x.size(0), x.size(1), x.size(2), w.hidden.size(1)};
  const int64_t columns = s.gates() * s.width;
  check_operand(cell, "input weights", w.input, {columns, s.inputs}, x.dtype());
  check_operand(cell, "hidden weights", w.hidden, {columns, s.width}, x.dtype());
  if (w.input_bias) check_operand(cell, "input bias", w.input_bias, {columns}, x.dtype());
  if (w.hidden_bias) check_operand(cell, "hidden bias", w.hidden_bias, {columns}, x.dtype());
  if (walk.first_hidden) check_operand(cell, "a first state", walk.first_hidden, {s.batch, s.width}, x.dtype());
  if (walk.first_cell) check_operand(cell, "a first cell", walk.first_cell, {s.batch, s.width}, x.dtype());
  require(cell == RecurrentCell::lstm || !walk.first_cell, "gru: found a first cell, expected a hidden state alone");
  if (walk.lengths) {
    check_operand(cell, "lengths", walk.lengths, {s.batch}, DType::i64);
    for (int64_t n : walk.lengths.values<int64_t>())
      require(0 <= n && n <= s.steps, "{}: found a length of {}, expected 0 to {}", name_of(cell), n, s.steps);
  }
  return s;
}

// What the kernel reads: contiguous numbers, kept alive while pointers into them are in use.
struct Operands {
  Tensor x, input, hidden, input_bias, hidden_bias, first_hidden, first_cell, lengths;
  kernels::RecurrentShape shape;
  Tensor packed;
  bool reverse = false;

  kernels::Recurrent call() const {
    auto numbers = [](const Tensor& t) { return t ? t.data<float>() : nullptr; };
    return {.shape = shape,
            .x = {numbers(x), shape.steps * shape.inputs, shape.inputs},
            .weights = {numbers(input), numbers(hidden), numbers(input_bias), numbers(hidden_bias), numbers(packed)},
            .first_hidden = numbers(first_hidden),
            .first_cell = numbers(first_cell),
            .lengths = lengths ? lengths.data<int64_t>() : nullptr,
            .reverse = reverse};
  }
};

Gradients backward(const Operands& operands, const Tensor& saved, const std::vector<bool>& wanted,
                   std::span<const Tensor> upstream) {
  const kernels::RecurrentShape& s = operands.shape;
  std::vector<Tensor> given;
  for (const Tensor& dy : upstream) given.push_back(dy ? dy.contiguous() : dy);
  auto read = [&](size_t i) { return i < given.size() && given[i] ? given[i].data<float>() : nullptr; };
  const Tensor* inputs[] = {&operands.x,           &operands.input,        &operands.hidden,    &operands.input_bias,
                            &operands.hidden_bias, &operands.first_hidden, &operands.first_cell};
  Gradients d;
  for (size_t i = 0; i < wanted.size(); ++i) d.push_back(wanted[i] ? zeros(inputs[i]->shape()) : Tensor());
  auto write = [&](size_t i) { return d[i] ? d[i].data<float>() : nullptr; };
  kernels::recurrent_backward(
      operands.call(), saved.data<float>(),
      {.y = {read(0), s.steps * s.width, s.width}, .last_hidden = read(1), .last_cell = read(2)},
      {.x = {write(0), s.steps * s.inputs, s.inputs},
       .input = write(1),
       .hidden = write(2),
       .input_bias = write(3),
       .hidden_bias = write(4),
       .first_hidden = write(5),
       .first_cell = write(6)});
  return d;
}

RecurrentResult fused(const kernels::RecurrentShape& s, const Tensor& x, const CellWeights& w,
                      const RecurrentWalk& walk) {
  auto plain = [](const Tensor& t) { return t ? t.detach().contiguous() : t; };
  const Operands operands = {plain(x),
                             plain(w.input),
                             plain(w.hidden),
                             plain(w.input_bias),
                             plain(w.hidden_bias),
                             plain(walk.first_hidden),
                             plain(walk.first_cell),
                             plain(walk.lengths),
                             s,
                             walk.packed,
                             walk.reverse};
  const std::vector<Tensor> inputs = {
      x, w.input, w.hidden, w.input_bias, w.hidden_bias, walk.first_hidden, walk.first_cell};
  Tensor y({s.batch, s.steps, s.width}, DType::f32), hidden({s.batch, s.width}, DType::f32);
  Tensor cell = s.cell == RecurrentCell::lstm ? Tensor({s.batch, s.width}, DType::f32) : Tensor();
  Tensor saved = any_needs_gradient(inputs) ? Tensor({kernels::recurrent_saved_size(s)}, DType::f32) : Tensor();
  kernels::recurrent_forward(operands.call(), {.y = {y.data<float>(), s.steps * s.width, s.width},
                                               .last_hidden = hidden.data<float>(),
                                               .last_cell = cell ? cell.data<float>() : nullptr,
                                               .saved = saved ? saved.data<float>() : nullptr});
  std::vector<bool> wanted;
  for (const Tensor& t : inputs) wanted.push_back(t.needs_gradient());
  std::vector<Tensor> results = {y, hidden};
  if (cell) results.push_back(cell);
  results = with_gradient(name_of(s.cell), results, inputs, [operands, saved, wanted](std::span<const Tensor> d) {
    return backward(operands, saved, wanted, d);
  });
  return {results[0], results[1], cell ? results[2] : Tensor()};
}

struct State {
  Tensor hidden, cell;
};

// One step of the formulas above; `from_input` is W x + b, [batch, gates · width].
State step(RecurrentCell kind, const Tensor& from_input, const CellWeights& w, const State& state) {
  const int64_t width = w.hidden.size(1);
  const Tensor from_hidden = linear(state.hidden, w.hidden, w.hidden_bias);
  auto gate = [&](const Tensor& sums, int64_t number) { return sums.slice(-1, number * width, (number + 1) * width); };
  if (kind == RecurrentCell::lstm) {
    const Tensor sums = from_input + from_hidden;
    const Tensor i = sigmoid(gate(sums, 0)), f = sigmoid(gate(sums, 1)), g = tanh(gate(sums, 2)),
                 o = sigmoid(gate(sums, 3));
    const Tensor cell = f * state.cell + i * g;
    return {o * tanh(cell), cell};
  }
  const Tensor r = sigmoid(gate(from_input, 0) + gate(from_hidden, 0));
  const Tensor z = sigmoid(gate(from_input, 1) + gate(from_hidden, 1));
  const Tensor n = tanh(gate(from_input, 2) + r * gate(from_hidden, 2));
  return {(1 - z) * n + z * state.hidden, {}};
}

// Which steps exist, i8 [batch, steps, 1].
Tensor existing_steps(const kernels::RecurrentShape& s, const Tensor& lengths) {
  Tensor exists({s.batch, s.steps, 1}, DType::i8);
  const std::vector<int64_t> length = lengths ? lengths.values<int64_t>() : std::vector<int64_t>();
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t t = 0; t < s.steps; ++t)
      exists.data<int8_t>()[b * s.steps + t] = !lengths || t < length[static_cast<size_t>(b)];
  }
  return exists;
}

}  // namespace

Tensor pack(RecurrentCell cell, const CellWeights& w) {
  const kernels::RecurrentShape shape = {cell, 0, 0, w.input.size(1), w.hidden.size(1)};
  const Tensor input = w.input.detach().contiguous(), hidden = w.hidden.detach().contiguous();
  Tensor packed({kernels::recurrent_packed_size(shape)}, DType::f32);
  kernels::pack_recurrent(shape, {.input = input.data<float>(), .hidden = hidden.data<float>()}, packed.data<float>());
  return packed;
}

RecurrentResult recurrent_by_formula(RecurrentCell cell, const Tensor& x, const CellWeights& w,
                                     const RecurrentWalk& walk) {
  const kernels::RecurrentShape s = checked_shape(cell, x, w, walk);
  const Tensor exists = existing_steps(s, walk.lengths), zero = zeros({}, x.dtype());
  const Tensor from_input = linear(where(exists, x, zero), w.input, w.input_bias);
  auto first = [&](const Tensor& given) { return given ? given : zeros({s.batch, s.width}, x.dtype()); };
  State state = {first(walk.first_hidden), cell == RecurrentCell::lstm ? first(walk.first_cell) : Tensor()};
  std::vector<Tensor> outputs(static_cast<size_t>(s.steps));
  for (int64_t number = 0; number < s.steps; ++number) {
    const int64_t t = walk.reverse ? s.steps - 1 - number : number;
    const State next = step(cell, from_input.select(1, t), w, state);
    const Tensor here = exists.select(1, t);
    outputs[static_cast<size_t>(t)] = where(here, next.hidden, zero);
    state.hidden = where(here, next.hidden, state.hidden);
    if (state.cell) state.cell = where(here, next.cell, state.cell);
  }
  Tensor y = s.steps == 0 ? zeros({s.batch, 0, s.width}, x.dtype()) : stack(outputs, 1);
  return {y, state.hidden, state.cell};
}

RecurrentResult recurrent(RecurrentCell cell, const Tensor& x, const CellWeights& w, const RecurrentWalk& walk) {
  if (x.dtype() != DType::f32) return recurrent_by_formula(cell, x, w, walk);
  return fused(checked_shape(cell, x, w, walk), x, w, walk);
}

}  // namespace fovea
