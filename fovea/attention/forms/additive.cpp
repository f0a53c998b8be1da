// Additive attention (Bahdanau, Cho and Bengio 2014):  e[t,j] = vᵀ tanh(W s[t] + U h[j])
#include "fovea/attention/form.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

Tensor scores(const Tensor& q, const Tensor& k, const FormWeights& w) {
  Tensor s = matmul(q, w.query->transpose(1, 2)).unsqueeze(3);  // [batch, heads, queries, 1, hidden]
  Tensor h = matmul(k, w.key->transpose(1, 2)).unsqueeze(2);    // [batch, heads, 1, keys, hidden]
  Tensor v = w.vector->unsqueeze(1).unsqueeze(-1);              // [heads, 1, hidden, 1]
  return matmul(tanh(s + h), v).squeeze(-1);                    // [batch, heads, queries, keys]
}

}  // namespace

extern const Form additive = {
    .name = "additive",
    .formula = "vᵀ tanh(W q + U k)",
    .paper = "Bahdanau, Cho and Bengio 2014",
    .scores = scores,
    .score = FusedScore::additive,
    .fused_query = [](const Tensor& q, const FormWeights& w) { return project_heads(q, w.query); },
    .fused_key = [](const Tensor& k, const FormWeights& w) { return project_heads(k, w.key); },
    .shapes =
        [](const FormSizes& s) {
          return FormShapes{.query = {s.heads, s.hidden, s.query_width},
                            .key = {s.heads, s.hidden, s.key_width},
                            .vector = {s.heads, s.hidden},
                            .projects = true};
        },
};

}  // namespace fovea
