// For tests: a batch of sentences for models with a vocabulary of 11, of several lengths, and targets of 19 tokens. They are sounds of
// 5 bands as well, of as many frames, for models that listen.
#pragma once

#include <vector>

#include "fovea/models/abilities.h"
#include "fovea/tensor/index.h"

namespace fovea {

struct Sentences {
  std::vector<int64_t> lengths = {7, 1, 17, 5};
  Source source;
  Tensor inputs;

  Sentences() {
    const int64_t batch = static_cast<int64_t>(lengths.size());
    source = {
        .ids = ids({batch, 17}, 1), .lengths = tensor({batch}, lengths), .frames = normal({batch, 5, 17}, Random(6))};
    inputs = ids({batch, 19}, 2);
  }
  static Tensor ids(const Shape& shape, uint64_t seed) {
    Tensor t(shape, DType::i64);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.data<int64_t>()[i] = 3 + static_cast<int64_t>(Random(seed).below(8, static_cast<uint64_t>(i)));
    return t;
  }
  Tensor column(int64_t t) const { return inputs.select(1, t).contiguous(); }
  // These rows, and as many tokens or frames of them.
  Source some(int64_t begin, int64_t end, int64_t tokens) const {
    return {.ids = source.ids.slice(0, begin, end).slice(1, 0, tokens).contiguous(),
            .lengths = source.lengths.slice(0, begin, end).contiguous(),
            .frames = source.frames.slice(0, begin, end).slice(2, 0, tokens).contiguous()};
  }
  Source alone(int64_t row) const {
    Source one = some(row, row + 1, lengths[static_cast<size_t>(row)]);
    one.lengths = {};
    return one;
  }
  Source in_order(const Tensor& order) const {
    return {
        .ids = rows(source.ids, order), .lengths = rows(source.lengths, order), .frames = rows(source.frames, order)};
  }
};

}  // namespace fovea
