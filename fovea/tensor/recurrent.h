// One LSTM (Hochreiter and Schmidhuber 1997) or GRU (Cho et al. 2014) over sequences, with PyTorch's weights and gates:
//
//   LSTM   i, f, o = σ(W x + U h + b)   g = tanh(W x + U h + b)   c' = f∘c + i∘g   h' = o∘tanh(c')        gates i, f, g, o
//   GRU    r, z = σ(W x + U h + b)      n = tanh(W x + b + r∘(U h + b'))           h' = (1 − z)∘n + z∘h   gates r, z, n
//
//   auto [outputs, hidden, cell] = recurrent(RecurrentCell::lstm, x, weights, {.lengths = lengths});
#pragma once

#include "fovea/base/precision.h"
#include "fovea/base/recurrent_cell.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

namespace kernels {
struct PackedMatrix;  // kernels/packed.h
}

struct CellWeights {
  Tensor input = {}, hidden = {};            // W [gates · width, inputs], U [gates · width, width]
  Tensor input_bias = {}, hidden_bias = {};  // [gates · width], or no tensor
  Precision precision = Precision::f32;      // of the products, there and back, as linear() has it
};

// The weights as they are now, for those who take one step after another with the same ones: packed once for each
// pass, and their gradients are one product over all calls, at the end of the one backward pass that they serve.
class PackedCell final {
 public:
  PackedCell(RecurrentCell, const CellWeights&);

  // Of weights that were packed before and do not learn: W, U whole (LSTM) or its first two thirds, and the last (GRU).
  struct Matrices {
    const kernels::PackedMatrix *input, *hidden, *candidate;
  };
  PackedCell(RecurrentCell, const Matrices&, const Tensor& input_bias, const Tensor& hidden_bias);

  int64_t inputs() const;
  int64_t width() const;

  struct Shared;
  const std::shared_ptr<Shared>& shared() const { return shared_; }
  const Tensor& tape() const { return tape_; }  // no number, only what leads back to the weights

 private:
  std::shared_ptr<Shared> shared_;
  Tensor tape_;
};

// Beyond an item's length its state stays as it is, its outputs are 0 and x is not read. In reverse an item goes from its
// own last step to its first; outputs stand where their x stands.
struct RecurrentWalk {
  Tensor first_hidden = {}, first_cell = {};  // [batch, width], or no tensor for zeros
  Tensor lengths = {};                        // i64 [batch], or no tensor for all steps
  bool reverse = false;
  const PackedCell* packed = nullptr;  // of these same weights, which may then be missing; or nothing
};

struct RecurrentResult {
  Tensor outputs;                 // [batch, steps, width]
  Tensor last_hidden, last_cell;  // [batch, width]; a GRU has no cell
};

// x [batch, steps, inputs].
RecurrentResult recurrent(RecurrentCell, const Tensor& x, const CellWeights&, const RecurrentWalk& = {});

// The same step by step in tensor operations, f32 or f64: what the kernel is held to. recurrent() runs it for f64 tensors.
RecurrentResult recurrent_by_formula(RecurrentCell, const Tensor& x, const CellWeights&, const RecurrentWalk& = {});

}  // namespace fovea
