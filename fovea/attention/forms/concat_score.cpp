// Concat attention (Luong, Pham and Manning 2015):  e[t,j] = vᵀ tanh(W [s[t]; h[j]])
//
// W [s; h] = Wₛ s + Wₕ h, so it is additive attention with W cut in two; the formula below does not use that.
#include "fovea/attention/form.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

Tensor scores(const Tensor& q, const Tensor& k, const FormWeights& w) {
  const int64_t batch = q.size(0), heads = q.size(1), queries = q.size(2), keys = k.size(2);
  Tensor s = q.unsqueeze(3).expand({batch, heads, queries, keys, q.size(3)});
  Tensor h = k.unsqueeze(2).expand({batch, heads, queries, keys, k.size(3)});
  Tensor both = concat({s, h}, -1);                       // [batch, heads, queries, keys, widths]
  Tensor weight = w.query->transpose(1, 2).unsqueeze(1);  // [heads, 1, widths, hidden]
  Tensor v = w.vector->unsqueeze(1).unsqueeze(-1);        // [heads, 1, hidden, 1]
  return matmul(tanh(matmul(both, weight)), v).squeeze(-1);
}

Tensor fused_query(const Tensor& q, const FormWeights& w) {
  return project_heads(q, w.query->slice(-1, 0, q.size(-1)));
}

Tensor fused_key(const Tensor& k, const FormWeights& w) {
  const int64_t widths = w.query.size(-1);
  return project_heads(k, w.query->slice(-1, widths - k.size(-1), widths));
}

}  // namespace

extern const Form concat_score = {
    .name = "concat",
    .formula = "vᵀ tanh(W [q; k])",
    .paper = "Luong, Pham and Manning 2015",
    .scores = scores,
    .score = FusedScore::additive,
    .fused_query = fused_query,
    .fused_key = fused_key,
    .shapes =
        [](const FormSizes& s) {
          return FormShapes{.query = {s.heads, s.hidden, s.query_width + s.key_width}, .vector = {s.heads, s.hidden}};
        },
};

}  // namespace fovea
