// LSTM or GRU layers, whichever a config names.
//
//   Cells cells("gru", {.inputs = 100, .width = 128, .bidirectional = true});
//   RecurrentOutput read = cells(x, context, {.lengths = lengths});   Tensor ends = last_states(read, 2);
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

 private:
  std::variant<Lstm, Gru> layers_;
};

// The last states of the top layer's directions side by side, [batch, directions · width].
Tensor last_states(const RecurrentOutput&, int64_t directions);

}  // namespace fovea
