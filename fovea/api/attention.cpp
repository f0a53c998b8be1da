#include "fovea/api/attention.h"

#include "fovea/attention/attention.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

// [1, rows, heads, width of a head]
Tensor in_heads(const Attention::Rows& rows, int64_t heads, const char* what) {
  const auto size = static_cast<int64_t>(rows.numbers.size());
  require(rows.count >= 1 && size > 0 && size % rows.count == 0 && size / rows.count % heads == 0,
          "Attention: found {} numbers as {} {}, expected as many numbers in each, a multiple of {} heads", size,
          rows.count, what, heads);
  return tensor({1, rows.count, heads, size / rows.count / heads},
                std::vector<float>(rows.numbers.begin(), rows.numbers.end()));
}

void take(Weight& weight, const std::vector<float>& numbers, const char* what, std::string_view form) {
  const int64_t expected = weight ? weight.elements() : 0;
  require(static_cast<int64_t>(numbers.size()) == expected, "Attention: found {} numbers as {}, expected {}{} for {}",
          numbers.size(), what, expected, weight ? " " + weight.shape().text() : "", form);
  if (weight) weight = tensor(weight.shape(), numbers);
}

FormWeights weights_of(const Attention::Options& o, const Form& form, const Tensor& q, const Tensor& k) {
  const int64_t hidden = o.vector.empty() ? q.size(3) : static_cast<int64_t>(o.vector.size());
  FormWeights weights = form.weights({1, q.size(3), k.size(3), hidden});
  take(weights.query, o.query_weight, "query_weight", form.name);
  take(weights.key, o.key_weight, "key_weight", form.name);
  take(weights.vector, o.vector, "vector", form.name);
  return weights;
}

}  // namespace

Attention::Attention() : Attention(Options{}) {}

Attention::Attention(const Options& o) : options_(o) {
  find<Form>(o.form);
  require(o.heads >= 1, "Attention: found {} heads, expected 1 or more", o.heads);
}

Attention::Answer Attention::operator()(const Rows& queries, const Rows& keys, const Rows& values) const {
  const Options& o = options_;
  const Form& form = find<Form>(o.form);
  const Tensor q = in_heads(queries, o.heads, "queries"), k = in_heads(keys, o.heads, "keys"),
               v = in_heads(values, o.heads, "values");
  const FormWeights weights = weights_of(o, form, q, k);
  const AttentionResult found = attend(q, k, v,
                                       {.form = &form,
                                        .weights = weights,
                                        .scale = o.scale,
                                        .selection = o.hard ? Selection::hard : Selection::soft,
                                        .mask = {.causal = o.causal, .window = o.window},
                                        .softcap = o.softcap,
                                        .probe = Probe{.weights = true}},
                                       {});
  const Tensor scores =
      form.scores(q.transpose(1, 2), k.transpose(1, 2), weights) * o.scale.value_or(form.scale(k.size(3)));
  return {.heads = o.heads,
          .queries = queries.count,
          .keys = keys.count,
          .width = v.size(2) * v.size(3),
          .scores = scores.values<float>(),
          .weights = found.probe.weights.values<float>(),
          .context = found.output.values<float>()};
}

}  // namespace fovea
