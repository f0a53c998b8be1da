// LSTM or GRU layers, whichever a config names.
//
//   Cells cells("gru", {.inputs = 100, .width = 128, .bidirectional = true});
//   RecurrentOutput read = cells(x, context, {.lengths = lengths});   Tensor ends = top_states(read.last.hidden, 2);
#pragma once

#include <string>
#include <variant>

#include "fovea/nn/recurrent.h"

namespace fovea {

class Cells final {
 public:
  Cells(const std::string& cell, const Lstm::Config&);  // "lstm" or "gru"

  RecurrentOutput operator()(const Tensor& x, const Context&, const RecurrentOptions& = {}) const;
  void weights(Weights& w);
  std::vector<PackedCell> pack() const;  // of the weights as they are now

 private:
  std::variant<Lstm, Gru> layers_;
};

// The states of the top layer's directions side by side:  [layers · directions, batch, width] → [batch, directions · width]
Tensor top_states(const Tensor& states, int64_t directions);

// The first states of so many layers:  [batch, layers · width] → [layers, batch, width]
Tensor by_layer(const Tensor& x, int64_t layers);

// Rows of the batch of [layers · directions, batch, width], and the rows of other states behind.
RecurrentState picked(const RecurrentState&, const Tensor& rows);
RecurrentState joined(const RecurrentState&, const RecurrentState& behind);

}  // namespace fovea
