#include "fovea/tensor/recurrent.h"

#include <algorithm>

#include "fovea/kernels/recurrent.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

const char* name_of(RecurrentCell cell) { return cell == RecurrentCell::lstm ? "lstm" : "gru"; }

void check_operand(RecurrentCell cell, const char* what, const Tensor& found, const Shape& shape, DType type) {
  require(found.shape() == shape && found.dtype() == type, "{}: found {} {} {}, expected {} {}", name_of(cell), what,
          name(found.dtype()), found.shape(), name(type), shape);
}

kernels::RecurrentShape checked_shape(RecurrentCell cell, const Tensor& x, const CellWeights& w,
                                      const RecurrentWalk& walk) {
  require(x.rank() == 3, "{}: found x {}, expected [batch, steps, inputs]", name_of(cell), x.shape());
  const int64_t width = walk.packed ? walk.packed->width() : w.hidden.rank() == 2 ? w.hidden.size(1) : 0;
  require(width > 0, "{}: found hidden weights {}, expected [gates · width, width]", name_of(cell), w.hidden.shape());
  const kernels::RecurrentShape s = {cell, x.size(0), x.size(1), x.size(2), width, w.precision};
  const int64_t columns = s.gates() * s.width;
  if (walk.packed)
    require(walk.packed->inputs() == s.inputs, "{}: found x {}, expected [batch, steps, {}]", name_of(cell), x.shape(),
            walk.packed->inputs());
  if (w.input) check_operand(cell, "input weights", w.input, {columns, s.inputs}, x.dtype());
  if (w.hidden) check_operand(cell, "hidden weights", w.hidden, {columns, s.width}, x.dtype());
  require(walk.packed || (w.input && w.hidden), "{}: found no weights, expected input and hidden ones", name_of(cell));
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
  const kernels::RecurrentMatrices* packed = nullptr;
  const kernels::RecurrentMatrices* packed_backward = nullptr;
  bool reverse = false;

  kernels::Recurrent call() const {
    auto numbers = [](const Tensor& t) { return t ? t.data<float>() : nullptr; };
    return {.shape = shape,
            .x = {numbers(x), shape.steps * shape.inputs, shape.inputs},
            .weights = {numbers(input), numbers(hidden), numbers(input_bias), numbers(hidden_bias), packed,
                        packed_backward},
            .first_hidden = numbers(first_hidden),
            .first_cell = numbers(first_cell),
            .lengths = lengths ? lengths.data<int64_t>() : nullptr,
            .reverse = reverse};
  }
};

// A call's own gradients, in the order of its inputs, and where the gates' go.
struct Backpropagation {
  const Operands& operands;
  const Tensor& saved;
  const std::vector<bool>& wanted;
  float* gates = nullptr;
};

Gradients backward(const Backpropagation& b, std::span<const Tensor> upstream) {
  const kernels::RecurrentShape& s = b.operands.shape;
  std::vector<Tensor> given;
  for (const Tensor& dy : upstream) given.push_back(dy ? dy.contiguous() : dy);
  auto read = [&](size_t i) { return i < given.size() && given[i] ? given[i].data<float>() : nullptr; };
  const Operands& o = b.operands;
  const Tensor* inputs[] = {&o.x, &o.first_hidden, &o.first_cell, &o.input, &o.hidden, &o.input_bias, &o.hidden_bias};
  Gradients d;
  for (size_t i = 0; i < b.wanted.size(); ++i)
    d.push_back(b.wanted[i] ? Tensor(inputs[i]->shape(), DType::f32) : Tensor());
  auto write = [&](size_t i) { return i < d.size() && d[i] ? d[i].data<float>() : nullptr; };
  kernels::recurrent_backward(
      o.call(), b.saved.data<float>(),
      {.y = {read(0), s.steps * s.width, s.width}, .last_hidden = read(1), .last_cell = read(2)},
      {.x = {write(0), s.steps * s.inputs, s.inputs},
       .input = write(3),
       .hidden = write(4),
       .input_bias = write(5),
       .hidden_bias = write(6),
       .first_hidden = write(1),
       .first_cell = write(2),
       .gates = b.gates});
  return d;
}

Tensor plain(const Tensor& t) { return t ? t.detach().contiguous() : t; }

}  // namespace

// The calls of one shape. A call's backward pass takes the next slot of `gates`: `saved` has those that did.
struct CallsOfOneShape {
  kernels::RecurrentShape shape;
  int64_t calls = 0;
  Tensor gates = {};
  std::vector<Tensor> saved = {};

  float* next_gates(const Tensor& saved_by_call) {
    const int64_t size = kernels::recurrent_gates_size(shape);
    if (!gates) gates = Tensor({calls * size}, DType::f32);
    require(static_cast<int64_t>(saved.size() + 1) * size <= gates.elements(),
            "{}: the packed weights were used up by an earlier backward(); pack them again", name_of(shape.cell));
    saved.push_back(saved_by_call);
    return gates.data<float>() + static_cast<int64_t>(saved.size() - 1) * size;
  }
};

struct PackedCell::Shared {
  RecurrentCell cell;
  Tensor input, hidden, input_bias, hidden_bias;
  Precision precision = Precision::f32;
  Tensor packed = {}, packed_backward = {};  // memory of the matrices that were packed here
  kernels::RecurrentMatrices matrices = {}, matrices_backward = {};
  std::vector<std::unique_ptr<CallsOfOneShape>> shapes = {};

  kernels::RecurrentShape shape() const { return {cell, 0, 0, input.size(1), hidden.size(1), precision}; }
  kernels::RecurrentWeights weights() const { return {.input = input.data<float>(), .hidden = hidden.data<float>()}; }

  CallsOfOneShape* add_call(const kernels::RecurrentShape& s) {
    auto same = [&](const auto& calls) { return calls->shape.batch == s.batch && calls->shape.steps == s.steps; };
    auto found = std::find_if(shapes.begin(), shapes.end(), same);
    if (found == shapes.end()) found = shapes.insert(found, std::make_unique<CallsOfOneShape>(CallsOfOneShape{s}));
    ++(*found)->calls;
    return found->get();
  }

  const kernels::RecurrentMatrices* backward_pack() {
    if (packed_backward) return &matrices_backward;
    packed_backward = Tensor({kernels::recurrent_packed_backward_bytes(shape())}, DType::i8);
    matrices_backward = kernels::pack_recurrent_backward(shape(), weights(), packed_backward.bytes());
    return &matrices_backward;
  }

  // Of W, U and their biases, as far as wanted.
  Gradients gradients(const std::vector<bool>& wanted) const {
    const Tensor* inputs[] = {&input, &hidden, &input_bias, &hidden_bias};
    Gradients sums(wanted.size());
    for (const auto& calls : shapes) {
      if (calls->saved.empty()) continue;
      Gradients d;
      for (size_t i = 0; i < wanted.size(); ++i)
        d.push_back(wanted[i] ? Tensor(inputs[i]->shape(), DType::f32) : Tensor());
      auto write = [&](size_t i) { return d[i] ? d[i].data<float>() : nullptr; };
      std::vector<const float*> saved;
      for (const Tensor& t : calls->saved) saved.push_back(t.data<float>());
      kernels::recurrent_weight_gradients(
          calls->shape, saved, calls->gates.data<float>(),
          {.x = {}, .input = write(0), .hidden = write(1), .input_bias = write(2), .hidden_bias = write(3)});
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (sums[i])
          add_into(sums[i], d[i]);
        else
          sums[i] = std::move(d[i]);
      }
    }
    return sums;
  }
};

PackedCell::PackedCell(RecurrentCell cell, const CellWeights& w)
    : shared_(std::make_shared<Shared>(
          Shared{cell, plain(w.input), plain(w.hidden), plain(w.input_bias), plain(w.hidden_bias), w.precision})) {
  shared_->packed = Tensor({kernels::recurrent_packed_bytes(shared_->shape())}, DType::i8);
  shared_->matrices = kernels::pack_recurrent(shared_->shape(), shared_->weights(), shared_->packed.bytes());
  const std::vector<Tensor> inputs = {w.input, w.hidden, w.input_bias, w.hidden_bias};
  std::vector<bool> wanted;
  for (const Tensor& t : inputs) wanted.push_back(t.needs_gradient());
  tape_ = with_gradient("cell weights", Tensor({0}, DType::f32), inputs,
                        [shared = shared_, wanted](const Tensor&) { return shared->gradients(wanted); });
}

PackedCell::PackedCell(RecurrentCell cell, const Matrices& m, const Tensor& input_bias, const Tensor& hidden_bias)
    : shared_(std::make_shared<Shared>(Shared{cell, {}, {}, plain(input_bias), plain(hidden_bias)})),
      tape_({0}, DType::f32) {
  shared_->matrices = {*m.input, *m.hidden};
  if (m.candidate) shared_->matrices.candidate = *m.candidate;
}

int64_t PackedCell::inputs() const { return shared_->matrices.input.depth; }

int64_t PackedCell::width() const { return shared_->matrices.hidden.depth; }

namespace {

// Where a call's gradients go: the weights' come from the call itself, or from the packed cell's.
Backward backward_of(const Operands& operands, const Tensor& saved, std::vector<bool> wanted,
                     const PackedCell* packed) {
  if (!packed) {
    return [operands, saved, wanted](std::span<const Tensor> d) { return backward({operands, saved, wanted}, d); };
  }
  const bool for_weights = packed->tape().needs_gradient();
  CallsOfOneShape* calls = for_weights ? packed->shared()->add_call(operands.shape) : nullptr;
  return [operands, saved, wanted, calls, shared = packed->shared()](std::span<const Tensor> d) {
    Operands now = operands;
    now.packed_backward = shared->backward_pack();
    Gradients result = backward({now, saved, wanted, calls ? calls->next_gates(saved) : nullptr}, d);
    result.push_back(calls ? Tensor({0}, DType::f32) : Tensor());
    return result;
  };
}

RecurrentResult fused(const kernels::RecurrentShape& s, const Tensor& x, const CellWeights& w,
                      const RecurrentWalk& walk) {
  const Operands operands = {plain(x),
                             plain(w.input),
                             plain(w.hidden),
                             walk.packed ? walk.packed->shared()->input_bias : plain(w.input_bias),
                             walk.packed ? walk.packed->shared()->hidden_bias : plain(w.hidden_bias),
                             plain(walk.first_hidden),
                             plain(walk.first_cell),
                             plain(walk.lengths),
                             s,
                             walk.packed ? &walk.packed->shared()->matrices : nullptr,
                             nullptr,
                             walk.reverse};
  std::vector<Tensor> inputs = {x, walk.first_hidden, walk.first_cell};
  if (!walk.packed) inputs.insert(inputs.end(), {w.input, w.hidden, w.input_bias, w.hidden_bias});
  std::vector<bool> wanted;
  for (const Tensor& t : inputs) wanted.push_back(t.needs_gradient());
  if (walk.packed) inputs.push_back(walk.packed->tape());
  Tensor y({s.batch, s.steps, s.width}, DType::f32), hidden({s.batch, s.width}, DType::f32);
  Tensor cell = s.cell == RecurrentCell::lstm ? Tensor({s.batch, s.width}, DType::f32) : Tensor();
  const bool taped = any_needs_gradient(inputs);
  Tensor saved = taped ? Tensor({kernels::recurrent_saved_size(s)}, DType::f32) : Tensor();
  kernels::recurrent_forward(operands.call(), {.y = {y.data<float>(), s.steps * s.width, s.width},
                                               .last_hidden = hidden.data<float>(),
                                               .last_cell = cell ? cell.data<float>() : nullptr,
                                               .saved = saved ? saved.data<float>() : nullptr});
  std::vector<Tensor> results = {y, hidden};
  if (cell) results.push_back(cell);
  if (taped) {
    results = with_gradient(name_of(s.cell), results, inputs, backward_of(operands, saved, wanted, walk.packed));
  }
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
  const kernels::RecurrentShape s = checked_shape(cell, x, w, walk);
  TimedWork timed(Work::Kind::recurrent);
  RecurrentResult result = fused(s, x, w, walk);
  if (!timed) return result;
  const double gates = (cell == RecurrentCell::lstm ? 4.0 : 3.0) * static_cast<double>(s.width);
  const double numbers = gates * static_cast<double>(s.inputs + s.width);
  timed.done({.weight = w.input ? static_cast<const void*>(w.input.bytes())
                                : static_cast<const void*>(walk.packed->shared()->matrices.input.data),
              .flops = 2 * static_cast<double>(s.batch * s.steps) * numbers,
              .bytes = bytes_of(x) + bytes_of(result.outputs) + 4 * numbers * static_cast<double>(s.steps),
              .input = &x,
              .output = &result.outputs});
  return result;
}

}  // namespace fovea
