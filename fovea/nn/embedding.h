// A vector for each entry of a vocabulary, and the output projection that shares them (Press and Wolf 2017).
//
//   Embedding words({.entries = 32000, .width = 512, .padding = 0});
//   Tensor x = words(ids);   Tensor logits = words.as_output(y);         // [..., 512] → [..., 32000]
#pragma once

#include "fovea/nn/weights.h"

namespace fovea {

class Embedding final {
 public:
  struct Config {
    int64_t entries = 0, width = 0;
    int64_t padding = -1;  // this entry begins as zeros and learns nothing from lookups; −1: there is none
    bool output = true;    // whether as_output() may be called
  };
  explicit Embedding(const Config&);

  Tensor operator()(const Tensor& ids) const;  // i64 [...] → [..., width]
  Tensor as_output(const Tensor& x) const;     // x Wᵀ
  void weights(Weights& w) { w("weight", weight_, init_); }
  const Weight& weight() const { return weight_; }

 private:
  int64_t padding_;
  Init init_;
  Weight weight_;
};

}  // namespace fovea
