// A language model that tells what it expects behind each token of a long text without holding tokens × vocabulary numbers.
//
//   as<LongReader>(*model).each_logits(ids, context, [&](int64_t begin, const Tensor& logits) { … });
#pragma once

#include <functional>

#include "fovea/nn/context.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

class LongReader {
 public:
  // What Generator::logits() gives for i64 [1, tokens], with the same bits, some tokens at a time: each call gets where they begin, and
  // [tokens, vocabulary].
  using SomeLogits = std::function<void(int64_t begin, const Tensor& logits)>;
  virtual void each_logits(const Tensor& ids, const Context&, const SomeLogits& each) const = 0;

 protected:
  ~LongReader() = default;
};

}  // namespace fovea
