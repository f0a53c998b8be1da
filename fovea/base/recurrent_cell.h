// Which recurrent cell: Hochreiter and Schmidhuber's (1997) or Cho et al.'s (2014).
//
//   recurrent(RecurrentCell::lstm, x, weights);
#pragma once

namespace fovea {

enum class RecurrentCell { lstm, gru };

}  // namespace fovea
