// A key counts the more the nearer it is:  e[t,j] = −|s[t] − h[j]|² / 2. Of that −|s[t]|² / 2 is the same for all keys, and
// what is left is the product of [s; 1] and [h; −|h|² / 2].
#include "fovea/attention/form.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

Tensor scores(const Tensor& q, const Tensor& k, const FormWeights&) {
  const Tensor difference = q.unsqueeze(3) - k.unsqueeze(2);
  return sum(difference * difference, {-1}) * -0.5;
}

Tensor with_one(const Tensor& q, const FormWeights&) {
  return concat({q, ones({q.size(0), q.size(1), q.size(2), 1}, q.dtype())}, -1);
}

Tensor with_length(const Tensor& k, const FormWeights&) { return concat({k, sum(k * k, {-1}, Axes::keep) * -0.5}, -1); }

}  // namespace

extern const Form euclidean = {
    .name = "euclidean",
    .formula = "−|q − k|² / 2",
    .paper = "a form that is added from outside",
    .scores = scores,
    .fused_query = with_one,
    .fused_key = with_length,
};

}  // namespace fovea
