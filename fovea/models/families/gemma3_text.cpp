// Gemma 3 (Gemma Team 2025), the text models: Gemma 2's layers without caps, with norms of queries and keys; all but every sixth
// layer look at a window, by rotary positions of their own.
#include <cmath>

#include "fovea/models/llama_model.h"

namespace fovea {
namespace {

class Gemma3 final : public LlamaModel {
 public:
  struct Config : LlamaConfig {
    LlamaWindows windows = {.window = 4096};
    std::string hidden_activation = "gelu_pytorch_tanh";
    double query_pre_attn_scalar = 256, final_logit_softcapping = 0, attn_logit_softcapping = 0;
    double rope_local_base_freq = 10000;
    int64_t sliding_window_pattern = 6;
    bool attention_bias = false, norm_plus_one = true;

    Config() {
      pad = {0}, eos = {1}, bos = {2};
      vocab_size = 262208, hidden_size = 2304, intermediate_size = 9216, num_hidden_layers = 26;
      num_attention_heads = 8, num_key_value_heads = 4, max_position_embeddings = 131072;
      head_dim = 256, tie_word_embeddings = true;
      hidden_act = "gelu_pytorch_tanh";
      rope.theta = 1e6;
    }
    void fields(Fields& f) {
      LlamaConfig::fields(f);
      windows.fields(f);
      f("hidden_activation", hidden_activation, "activation of the feed-forward layers; hidden_act is not looked at");
      f("query_pre_attn_scalar", query_pre_attn_scalar, "scores are divided by its root");
      if (f.reads() || final_logit_softcapping > 0)
        f("final_logit_softcapping", final_logit_softcapping, "the cap of the logits; 0: none");
      if (f.reads() || attn_logit_softcapping > 0)
        f("attn_logit_softcapping", attn_logit_softcapping, "the cap of the scores; 0: none");
      f("rope_local_base_freq", rope_local_base_freq, "base of the frequencies in layers with a window");
      f("sliding_window_pattern", sliding_window_pattern, "each of this number is a layer without a window");
      f("attention_bias", attention_bias, "whether queries, keys, values and their output have a bias");
      if (f.reads() || !norm_plus_one) f("norm_plus_one", norm_plus_one, "whether norms scale by 1 + weight");
      f.passed_over({"cache_implementation", "_sliding_window_pattern"});
      if (!f.reads()) return;
      rope.fields_in(f, "rope_parameters.full_attention.");
      f("rope_parameters.sliding_attention.rope_theta", rope_local_base_freq, "");
      std::string local = "default";
      f("rope_parameters.sliding_attention.rope_type", local, "");
      check_choice("gemma3", "rope_parameters.sliding_attention.rope_type", local, {"default"});
    }
    LlamaLayout layout() const {
      LlamaConfig sizes = *this;
      sizes.hidden_act = hidden_activation;
      LlamaLayout l = sizes.layout("gemma3");
      require(
          query_pre_attn_scalar > 0 && attn_logit_softcapping >= 0 && final_logit_softcapping >= 0 &&
              sliding_window_pattern > 0,
          "gemma3: found query_pre_attn_scalar {}, caps {} and {}, and a pattern of {}, expected above 0, no negative "
          "caps, and at least 1",
          query_pre_attn_scalar, attn_logit_softcapping, final_logit_softcapping, sliding_window_pattern);
      windows.apply(
          l, [](int64_t layer, int64_t each) { return (layer + 1) % each != 0; }, sliding_window_pattern);
      const auto local = std::make_shared<const RotaryPositions>(
          RopeConfig{.theta = rope_local_base_freq, .interleaved = rope.interleaved}.rotary(l.head_width,
                                                                                            max_position_embeddings));
      for (LlamaSight& sight : l.layers)
        if (sight.window > 0) sight.rotary = local;
      l.head_norms = l.norms_behind = true;
      l.plus_one = norm_plus_one;
      l.attention_bias = l.output_bias = attention_bias;
      l.embedding_scale = std::sqrt(static_cast<double>(hidden_size));
      l.score_scale = 1 / std::sqrt(query_pre_attn_scalar);
      l.score_softcap = attn_logit_softcapping;
      l.logit_softcap = final_logit_softcapping;
      return l;
    }
  };
  explicit Gemma3(const Config& c) : LlamaModel(c, c.layout()), config_(c) {}

  std::string_view family() const override { return "gemma3_text"; }
  std::string config() const override { return family_json(family(), config_); }

 private:
  Config config_;
};

}  // namespace

extern const Family gemma3_text = family_of<Gemma3>(
    "gemma3_text", "Gemma 3's text models: windows in five layers of six (Gemma Team 2025)",
    R"([{"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 8,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "sliding_window": 5, "query_pre_attn_scalar": 12,
         "sliding_window_pattern": 2, "norm_plus_one": [true, false], "bos_token_id": 1, "eos_token_id": 2}])",
    small_llama_of_heads);

}  // namespace fovea
