// The layers of Llama (Touvron et al. 2023) and of those who followed it, under Hugging Face's names. What the families differ in
// is data: a LlamaLayout, which each makes from its own config.
//
//   y = x + attention(norm(x)),   z = y + mlp(norm(y))                 RMS norms; rotary positions; heads that share keys
//   mlp(x) = (act(x Gᵀ) ∘ x Uᵀ) Dᵀ
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fovea/attention/place.h"
#include "fovea/attention/self_attention.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/norm.h"
#include "fovea/nn/positions.h"

namespace fovea {

// Where a layer looks: how far back, and by which positions.
struct LlamaSight {
  int64_t window = 0;  // 0: everything
  std::shared_ptr<const RotaryPositions> rotary;
};

struct LlamaLayout {
  int64_t vocabulary = 0, width = 0, hidden = 0, heads = 0, key_heads = 0, head_width = 0;
  std::vector<LlamaSight> layers = {};
  double epsilon = 1e-6;
  Activation activation = Activation::silu;
  bool tied = false;  // the output shares the embedding
  bool attention_bias = false, output_bias = false, mlp_bias = false;
  bool fused = false;         // one matrix for queries, keys and values, one for gate and up
  bool head_norms = false;    // of queries and keys
  bool norms_behind = false;  // what attention and mlp give is normed too
  bool plus_one = false;      // norms scale by 1 + weight
  double embedding_scale = 1;
  std::optional<double> score_scale = {};       // 1 / √head_width if not given
  double score_softcap = 0, logit_softcap = 0;  // 0: none
};

class LlamaAttention final {
 public:
  LlamaAttention(const LlamaLayout&, const LlamaSight&);

  Tensor operator()(const Tensor& x, std::span<const int64_t> positions, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const {
    Place place = text_to_itself;
    place.heads = heads_, place.key_heads = key_heads_;
    p.add(place);
  }

 private:
  Projected project(const Tensor& x, std::span<const int64_t> positions) const;

  int64_t heads_, key_heads_, head_width_;
  AttentionOptions options_;
  std::shared_ptr<const RotaryPositions> rotary_;
  std::vector<Linear> projections_;  // queries, keys, values; or one for all
  std::optional<RmsNorm> query_norm_, key_norm_;
  Linear output_;
};

class LlamaMlp final {
 public:
  explicit LlamaMlp(const LlamaLayout&);

  Tensor operator()(const Tensor& x) const;
  void weights(Weights& w);

 private:
  Activation activation_;
  std::vector<Linear> inputs_;  // gate, up; or one for both
  Linear down_;
};

class LlamaLayer final {
 public:
  LlamaLayer(const LlamaLayout&, const LlamaSight&);

  Tensor operator()(const Tensor& x, std::span<const int64_t> positions, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const { attention_.places(p.at("self_attn")); }

 private:
  LlamaAttention attention_;
  LlamaMlp mlp_;
  RmsNorm before_attention_, before_mlp_;
  std::optional<RmsNorm> behind_attention_, behind_mlp_;
};

// Ids to states, and states to logits.
class LlamaStack final {
 public:
  explicit LlamaStack(const LlamaLayout&);

  Tensor states(const Tensor& ids, const Context&) const;  // i64 [batch, tokens] → [batch, tokens, width]
  Tensor logits(const Tensor& states) const;               // [..., width] → [..., vocabulary]
  void weights(Weights& w);
  void places(const Places& p) const { p.at("model.layers").layers(layers_); }

 private:
  double embedding_scale_, logit_softcap_;
  Embedding embedding_;
  std::vector<LlamaLayer> layers_;
  RmsNorm norm_;
  std::optional<Linear> output_;
};

}  // namespace fovea
