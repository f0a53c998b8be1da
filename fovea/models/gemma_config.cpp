#include "fovea/models/gemma_config.h"

#include <cmath>

namespace fovea {

GemmaConfig::GemmaConfig() {
  pad = {0}, eos = {1}, bos = {2};
  head_dim = 256, tie_word_embeddings = true;
  hidden_act = hidden_activation;
}

void GemmaConfig::fields(Fields& f) {
  LlamaConfig::fields(f);
  windows.fields(f);
  f("hidden_activation", hidden_activation, "activation of the feed-forward layers; hidden_act is not looked at");
  f("query_pre_attn_scalar", query_pre_attn_scalar, "scores are divided by its root");
  f("attention_bias", attention_bias, "whether queries, keys, values and their output have a bias");
  if (f.reads() || !norm_plus_one) f("norm_plus_one", norm_plus_one, "whether norms scale by 1 + weight");
  f.passed_over({"cache_implementation"});
}

void GemmaConfig::caps(Fields& f) {
  f("final_logit_softcapping", final_logit_softcapping, "the cap of the logits; 0: none");
  f("attn_logit_softcapping", attn_logit_softcapping, "the cap of the scores; 0: none");
}

LlamaLayout GemmaConfig::layout(std::string_view family) const {
  LlamaConfig sizes = *this;
  sizes.hidden_act = hidden_activation;
  LlamaLayout l = sizes.layout(family);
  require(query_pre_attn_scalar > 0 && attn_logit_softcapping >= 0 && final_logit_softcapping >= 0,
          "{}: found query_pre_attn_scalar {} and caps {} and {}, expected above 0, and no negative caps", family,
          query_pre_attn_scalar, attn_logit_softcapping, final_logit_softcapping);
  l.norms_behind = true;
  l.plus_one = norm_plus_one;
  l.attention_bias = l.output_bias = attention_bias;
  l.embedding_scale = std::sqrt(static_cast<double>(hidden_size));
  l.score_scale = 1 / std::sqrt(query_pre_attn_scalar);
  l.score_softcap = attn_logit_softcapping;
  l.logit_softcap = final_logit_softcapping;
  return l;
}

}  // namespace fovea
