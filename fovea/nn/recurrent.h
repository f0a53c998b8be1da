// LSTM and GRU: stacked, in one direction or both, with PyTorch's equations and weight names.
//
//   Lstm encoder({.inputs = 256, .width = 512, .layers = 2, .bidirectional = true});
//   auto [outputs, last] = encoder(x, context, {.lengths = lengths});    // [batch, steps, 1024] and the last states
#pragma once

#include <vector>

#include "fovea/nn/context.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/weights.h"
#include "fovea/tensor/recurrent.h"

namespace fovea {

// [layers · directions, batch, width]; a GRU has no cell.
struct RecurrentState {
  Tensor hidden = {}, cell = {};
};

struct RecurrentOptions {
  RecurrentState first = {};  // zeros if not given
  Tensor lengths = {};        // i64 [batch]; all steps if not given
  // From pack(): saves a decoder that goes step by step from packing its weights, and adding up their gradients, at each.
  const std::vector<PackedCell>* packed = nullptr;
};

struct RecurrentOutput {
  Tensor outputs;  // [batch, steps, directions · width], zeros beyond an item's length
  RecurrentState last;
};

template <RecurrentCell cell>
class RecurrentLayers final {
 public:
  struct Config {
    int64_t inputs = 0, width = 0, layers = 1;
    bool bidirectional = false;
    double dropout = 0;  // between layers
    bool bias = true;
  };
  explicit RecurrentLayers(const Config&);

  RecurrentOutput operator()(const Tensor& x, const Context&,
                             const RecurrentOptions& = {}) const;  // [batch, steps, inputs]
  void weights(Weights& w);
  std::vector<PackedCell> pack() const;  // of the weights as they are now, for one backward pass

 private:
  int64_t directions() const { return config_.bidirectional ? 2 : 1; }

  Config config_;
  Dropout dropout_;
  struct Cell {
    Weight input = {}, hidden = {}, input_bias = {}, hidden_bias = {};

    CellWeights numbers() const {
      auto of = [](const Weight& w) { return w.packed() ? w.unpacked() : *w; };
      return {of(input), of(hidden), *input_bias, *hidden_bias, input.multiplies_in()};
    }
  };
  std::vector<Cell> cells_;  // [layers · directions]
};

using Lstm = RecurrentLayers<RecurrentCell::lstm>;
using Gru = RecurrentLayers<RecurrentCell::gru>;

}  // namespace fovea
