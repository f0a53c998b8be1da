// Gemma 2 (Gemma Team 2024): Llama's layers with norms behind attention and feed-forward too, all of them by 1 + weight; every
// second layer looks at a window only; scores and logits are held below a cap: x becomes c · tanh(x / c).
#include <cmath>

#include "fovea/models/llama_model.h"

namespace fovea {
namespace {

class Gemma2 final : public LlamaModel {
 public:
  struct Config : LlamaConfig {
    LlamaWindows windows = {.window = 4096};
    std::string hidden_activation = "gelu_pytorch_tanh";
    double query_pre_attn_scalar = 256, final_logit_softcapping = 30, attn_logit_softcapping = 50;
    bool attention_bias = false, norm_plus_one = true;

    Config() {
      pad = {0}, eos = {1}, bos = {2};
      head_dim = 256, tie_word_embeddings = true;
      hidden_act = "gelu_pytorch_tanh";
    }
    void fields(Fields& f) {
      LlamaConfig::fields(f);
      windows.fields(f);
      f("hidden_activation", hidden_activation, "activation of the feed-forward layers; hidden_act is not looked at");
      f("query_pre_attn_scalar", query_pre_attn_scalar, "scores are divided by its root");
      f("final_logit_softcapping", final_logit_softcapping, "the cap of the logits; 0: none");
      f("attn_logit_softcapping", attn_logit_softcapping, "the cap of the scores; 0: none");
      f("attention_bias", attention_bias, "whether queries, keys, values and their output have a bias");
      if (f.reads() || !norm_plus_one) f("norm_plus_one", norm_plus_one, "whether norms scale by 1 + weight");
      f.passed_over({"cache_implementation"});
    }
    LlamaLayout layout() const {
      LlamaConfig sizes = *this;
      sizes.hidden_act = hidden_activation;
      LlamaLayout l = sizes.layout("gemma2");
      require(query_pre_attn_scalar > 0 && attn_logit_softcapping >= 0 && final_logit_softcapping >= 0,
              "gemma2: found query_pre_attn_scalar {} and caps {} and {}, expected above 0, and no negative caps",
              query_pre_attn_scalar, attn_logit_softcapping, final_logit_softcapping);
      windows.apply(l, [](int64_t layer, int64_t) { return layer % 2 == 0; });
      l.norms_behind = true;
      l.plus_one = norm_plus_one;
      l.attention_bias = l.output_bias = attention_bias;
      l.embedding_scale = std::sqrt(static_cast<double>(hidden_size));
      l.score_scale = 1 / std::sqrt(query_pre_attn_scalar);
      l.score_softcap = attn_logit_softcapping;
      l.logit_softcap = final_logit_softcapping;
      return l;
    }
  };
  explicit Gemma2(const Config& c) : LlamaModel(c, c.layout()), config_(c) {}

  std::string_view family() const override { return "gemma2"; }
  std::string config() const override { return family_json(family(), config_); }

 private:
  Config config_;
};

}  // namespace

extern const Family gemma2 = family_of<Gemma2>(
    "gemma2", "Gemma 2: windows in every second layer, capped scores (Gemma Team 2024)",
    R"([{"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "sliding_window": 5, "query_pre_attn_scalar": 12,
         "norm_plus_one": [true, false], "bos_token_id": 1, "eos_token_id": 2}])",
    small_llama_of_heads);

}  // namespace fovea
