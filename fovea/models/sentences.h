// For tests: a batch of sentences for models with a vocabulary of 11, of several lengths, and targets of 19 tokens.
#pragma once

#include <vector>

#include "fovea/models/abilities.h"

namespace fovea {

struct Sentences {
  std::vector<int64_t> lengths = {7, 1, 17, 5};
  Source source;
  Tensor inputs;

  Sentences() {
    const int64_t batch = static_cast<int64_t>(lengths.size());
    source = {ids({batch, 17}, 1), tensor({batch}, lengths)};
    inputs = ids({batch, 19}, 2);
  }
  static Tensor ids(const Shape& shape, uint64_t seed) {
    Tensor t(shape, DType::i64);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.data<int64_t>()[i] = 3 + static_cast<int64_t>(Random(seed).below(8, static_cast<uint64_t>(i)));
    return t;
  }
  Tensor column(int64_t t) const { return inputs.select(1, t).contiguous(); }
  Source alone(int64_t row) const {
    return {source.ids.slice(0, row, row + 1).slice(1, 0, lengths[static_cast<size_t>(row)]).contiguous(), {}};
  }
};

}  // namespace fovea
