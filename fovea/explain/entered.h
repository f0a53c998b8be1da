// Embedded tokens as they enter a model, and the answer's gradient with respect to them.
//
//   Entered entered("source");
//   Tensor odds = question.odds({.entrance = &entered});   odds.backward();   entered.vectors().gradient();
//
// Others can be put into their place, which is what integrated gradients do.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "fovea/nn/context.h"

namespace fovea {

class Entered final : public Entrance {
 public:
  using Change = std::function<Tensor(const Tensor& embedded)>;
  explicit Entered(std::string sequence, Change change = {})
      : sequence_(std::move(sequence)), change_(std::move(change)) {}

  Tensor enter(std::string_view sequence, const Tensor& embedded) override {
    if (sequence != sequence_) return embedded;
    vectors_ = change_ ? change_(embedded.detach()) : embedded.detach().clone();
    return vectors_.require_gradient();
  }
  const Tensor& vectors() const { return vectors_; }

  // An Error of kind unsupported if nothing leads from the answer to the vectors.
  void require_way_back(const Tensor& odds) const {
    if (!vectors_ || !odds.needs_gradient())
      throw Error(Error::unsupported, "no gradient comes back to the words of this model");
  }

 private:
  std::string sequence_;
  Change change_;
  Tensor vectors_;
};

}  // namespace fovea
