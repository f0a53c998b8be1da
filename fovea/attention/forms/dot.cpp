// Dot attention (Luong, Pham and Manning 2015):  e[t,j] = s[t] · h[j]
#include "fovea/attention/form.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

Tensor scores(const Tensor& q, const Tensor& k, const FormWeights&) { return matmul(q, k.transpose(-1, -2)); }

}  // namespace

extern const Form dot = {
    .name = "dot",
    .formula = "qᵀ k",
    .paper = "Luong, Pham and Manning 2015",
    .scores = scores,
};

}  // namespace fovea
