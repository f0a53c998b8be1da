// The sequences of a batch, a few at a time through the layers of an encoder: what lies between a layer's products stays in the
// caches, and threads do not wait for each other at every product.
//
//   SequenceGroups groups(x, source.starts, context);               // x: [1, tokens of all rows, width]
//   for (const Layer& layer : layers) groups.pass([&](const Tensor& x, const Mask& mask) { return layer(x, mask, context); });
//   return groups.joined();
//
// A group runs on one thread, and no number tells which group its sequence was in. All are one group in training, where a weight's
// gradient is one sum over all rows, and under a trace, which sees all sequences of a place at once.
#pragma once

#include <vector>

#include "fovea/attention/mask.h"
#include "fovea/base/threads.h"
#include "fovea/nn/context.h"

namespace fovea {

class SequenceGroups final {
 public:
  SequenceGroups(const Tensor& x, const std::vector<int64_t>& starts, const Context&);

  // x = layer(x, mask) for each group.
  template <class Layer>
  void pass(const Layer& layer) {
    const auto walk = [&](int64_t i) {
      Group& g = groups_[static_cast<size_t>(i)];
      g.x = layer(g.x, g.mask);
    };
    groups_.size() == 1 ? walk(0) : parallel_for(std::ssize(groups_), walk);
  }
  Tensor joined() const;

 private:
  struct Group {
    Tensor x;
    Mask mask;
  };
  std::vector<Group> groups_;
};

}  // namespace fovea
