// LSTM (Hochreiter and Schmidhuber 1997, with Gers' forget gate) and GRU (Cho et al. 2014) over whole sequences,
// forward and backward, with PyTorch's weights and gate order:
//
//   LSTM  i, f, o = σ(W x + U h + b)  g = tanh(W x + U h + b)            c' = f∘c + i∘g, h' = o∘tanh(c')  gates i, f, g, o
//   GRU   r, z = σ(W x + U h + b)     n = tanh(W x + b_i + r∘(U h + b_h))  h' = (1 − z)∘n + z∘h           gates r, z, n
//
//   Recurrent r = {.shape = {RecurrentCell::lstm, batch, steps, inputs, width}, .x = {x, …}, .weights = {w, u, b_i, b_h}};
//   recurrent_forward(r, {.y = {y, steps * width, width}, .saved = saved});
#pragma once

#include <cstdint>
#include <span>

#include "fovea/base/recurrent_cell.h"
#include "fovea/kernels/packed.h"

namespace fovea::kernels {

using fovea::RecurrentCell;

struct RecurrentShape {
  RecurrentCell cell = RecurrentCell::lstm;
  int64_t batch = 0, steps = 0, inputs = 0, width = 0;
  Precision precision = Precision::f32;  // of the products, there and back (packed.h); what goes in and out is f32
  int64_t gates() const { return cell == RecurrentCell::lstm ? 4 : 3; }
};

// [batch, steps, …]: the vector of (item, step) is data + item * batch_stride + step * step_stride.
template <class T>
struct StepsOf {
  T* data = nullptr;
  int64_t batch_stride = 0, step_stride = 0;
};
using Steps = StepsOf<const float>;
using MutableSteps = StepsOf<float>;

// W and U as the products of a pass read them: U whole (LSTM), or of r and z, and of n apart (GRU).
struct RecurrentMatrices {
  PackedMatrix input, hidden, candidate = {};
};

// input [gates · width, inputs], hidden [gates · width, width], biases [gates · width] or nothing.
struct RecurrentWeights {
  const float* input = nullptr;
  const float* hidden = nullptr;
  const float* input_bias = nullptr;
  const float* hidden_bias = nullptr;
  // W and U packed, where they are kept from call to call; or nothing. The forward pass then needs no others.
  const RecurrentMatrices* packed = nullptr;
  const RecurrentMatrices* packed_backward = nullptr;  // by pack_recurrent_backward
};

// What forward and backward are told alike. Beyond its length an item's state stays as it is and its output is 0;
// whatever x holds there is not read. With `reverse` an item goes from its own last step to its first; y keeps the
// positions of x.
struct Recurrent {
  RecurrentShape shape;
  Steps x;
  RecurrentWeights weights;
  const float* first_hidden = nullptr;  // [batch, width], or nothing for zeros
  const float* first_cell = nullptr;    // the same, LSTM only
  const int64_t* lengths = nullptr;     // [batch], each 0 to steps; or nothing for all steps
  bool reverse = false;
};

struct RecurrentOutputs {
  MutableSteps y;                // [batch, steps, width]
  float* last_hidden = nullptr;  // [batch, width], or nothing
  float* last_cell = nullptr;
  float* saved = nullptr;  // recurrent_saved_size floats for the backward pass, or nothing
};

// The gradients that come in; each may be missing.
struct RecurrentUpstream {
  Steps y;  // [batch, steps, width]
  const float* last_hidden = nullptr;
  const float* last_cell = nullptr;
};

// The gradients that go out, overwritten; each may be missing.
struct RecurrentGradients {
  MutableSteps x;
  float* input = nullptr;
  float* hidden = nullptr;
  float* input_bias = nullptr;
  float* hidden_bias = nullptr;
  float* first_hidden = nullptr;
  float* first_cell = nullptr;
  float* gates = nullptr;  // recurrent_gates_size floats for recurrent_weight_gradients
};

int64_t recurrent_packed_bytes(const RecurrentShape&);
RecurrentMatrices pack_recurrent(const RecurrentShape&, const RecurrentWeights&, std::byte* packed);
int64_t recurrent_packed_backward_bytes(const RecurrentShape&);
RecurrentMatrices pack_recurrent_backward(const RecurrentShape&, const RecurrentWeights&, std::byte* packed);

int64_t recurrent_saved_size(const RecurrentShape&);
void recurrent_forward(const Recurrent&, const RecurrentOutputs&);
void recurrent_backward(const Recurrent&, const float* saved, const RecurrentUpstream&, const RecurrentGradients&);

// The gradients of weights and biases over several calls of one shape as one product: for those who take one step after
// another. `gates` is what the calls' backward passes left, one behind the other in the order of `saved`.
int64_t recurrent_gates_size(const RecurrentShape&);
void recurrent_weight_gradients(const RecurrentShape&, std::span<const float* const> saved, const float* gates,
                                const RecurrentGradients&);

}  // namespace fovea::kernels
