// A form of attention: how a query and a key become a score. One file each in forms/; each is its formula in tensor
// operations, and how the fused kernel is brought to compute the same.
//
//   const Form& form = find<Form>("additive");
//   Tensor scores = form.scores(q, k, weights);        // [batch, heads, queries, keys]
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fovea/base/catalogue.h"
#include "fovea/nn/weight.h"

namespace fovea {

// What a form learns, one slice for each head (or one for all); empty where the form has none.
struct FormWeights {
  Weight query = {};   // additive: W [heads, hidden, query width], general: W [heads, query width, key width],
                       // concat: W [heads, hidden, query width + key width]
  Weight key = {};     // additive: U [heads, hidden, key width]
  Weight vector = {};  // additive, concat: v [heads, hidden]
};

struct FormSizes {
  int64_t heads = 1, query_width = 0, key_width = 0, hidden = 0;
};

// Of the weights; one without axes stands for none.
struct FormShapes {
  Shape query = {}, key = {}, vector = {};
  bool projects =
      false;  // queries and keys meet them as x Wᵀ, through project_heads() alone, so that they may be packed
};

// What the fused kernel computes of queries and keys:  q · k,  or  Σ v tanh(q + k).
enum class FusedScore { dot, additive };

struct Form {
  static constexpr std::string_view noun = "form of attention";
  std::string_view name;
  std::string_view formula;
  std::string_view paper;
  // What it means: q [batch, heads, queries, width] and k [batch, heads, keys, width] → [batch, heads, queries, keys].
  Tensor (*scores)(const Tensor& q, const Tensor& k, const FormWeights&);
  // How it is run: a fused score of queries and keys [batch, tokens, heads, width], each projected on its own where the form
  // projects (so that a cache can keep projected keys). The catalogue's test holds it to `scores`.
  FusedScore score = FusedScore::dot;
  Tensor (*fused_query)(const Tensor& q, const FormWeights&) = [](const Tensor& q, const FormWeights&) { return q; };
  Tensor (*fused_key)(const Tensor& k, const FormWeights&) = [](const Tensor& k, const FormWeights&) { return k; };
  // The scores' factor for a width, unless the caller gives one.
  double (*scale)(int64_t width) = [](int64_t) { return 1.0; };
  FormShapes (*shapes)(const FormSizes&) = [](const FormSizes&) { return FormShapes{}; };

  FormWeights weights(const FormSizes&) const;  // shapes alone
};

extern const Form additive, concat_score, dot, general, scaled_dot;

// x Wᵀ for each head:  x [batch, tokens, heads, width], W [heads, outputs, width] → [batch, tokens, heads, outputs]. Fewer
// heads in x than in W stand for groups of them; a single head in W serves all.
Tensor project_heads(const Tensor& x, const Weight& weight);

// Each head stands for a group of so many:  [batch, tokens, heads, width] → [batch, tokens, heads · group, width]
Tensor repeat_heads(const Tensor& x, int64_t group);

}  // namespace fovea
