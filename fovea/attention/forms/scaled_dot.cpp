// Scaled dot attention (Vaswani et al. 2017):  e[t,j] = s[t] · h[j] / √width
//
// The scale keeps the scores' variance at 1 for queries and keys of variance 1, so that the softmax does not saturate.
#include <cmath>

#include "fovea/attention/form.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

Tensor scores(const Tensor& q, const Tensor& k, const FormWeights&) { return matmul(q, k.transpose(-1, -2)); }

}  // namespace

extern const Form scaled_dot = {
    .name = "scaled-dot",
    .formula = "qᵀ k / √d",
    .paper = "Vaswani et al. 2017",
    .scores = scores,
    .scale = [](int64_t width) { return 1 / std::sqrt(static_cast<double>(width)); },
};

}  // namespace fovea
