// General attention (Luong, Pham and Manning 2015):  e[t,j] = s[t]ᵀ W h[j]
#include "fovea/attention/form.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

Tensor scores(const Tensor& q, const Tensor& k, const FormWeights& w) {
  return matmul(matmul(q, *w.query), k.transpose(-1, -2));
}

// W goes with the queries, of which there are usually fewer; what remains is a dot product.
Tensor fused_query(const Tensor& q, const FormWeights& w) { return project_heads(q, w.query->transpose(1, 2)); }

}  // namespace

extern const Form general = {
    .name = "general",
    .formula = "qᵀ W k",
    .paper = "Luong, Pham and Manning 2015",
    .scores = scores,
    .fused_query = fused_query,
    .shapes =
        [](const FormSizes& s) {
          return FormShapes{.query = {s.heads, s.query_width, s.key_width}};
        },
};

}  // namespace fovea
