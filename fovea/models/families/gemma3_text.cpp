// Gemma 3 (Gemma Team 2025), the text models: Gemma 2's layers without caps, with norms of queries and keys; all but every sixth
// layer look at a window, by rotary positions of their own.
#include "fovea/models/gemma_config.h"

namespace fovea {
namespace {

class Gemma3 final : public LlamaModel {
 public:
  struct Config : GemmaConfig {
    double rope_local_base_freq = 10000;
    int64_t sliding_window_pattern = 6;

    Config() {
      vocab_size = 262208, hidden_size = 2304, intermediate_size = 9216, num_hidden_layers = 26;
      num_attention_heads = 8, num_key_value_heads = 4, max_position_embeddings = 131072;
      rope.theta = 1e6;
    }
    void fields(Fields& f) {
      GemmaConfig::fields(f);
      if (f.reads() || final_logit_softcapping > 0 || attn_logit_softcapping > 0) caps(f);
      f("rope_local_base_freq", rope_local_base_freq, "base of the frequencies in layers with a window");
      f("sliding_window_pattern", sliding_window_pattern, "each of this number is a layer without a window");
      f.passed_over({"_sliding_window_pattern"});
      if (!f.reads()) return;
      rope.fields_in(f, "rope_parameters.full_attention.");
      f("rope_parameters.sliding_attention.rope_theta", rope_local_base_freq, "");
      std::string local = "default";
      f("rope_parameters.sliding_attention.rope_type", local, "");
      check_choice("gemma3", "rope_parameters.sliding_attention.rope_type", local, {"default"});
    }
    LlamaLayout layout() const {
      LlamaLayout l = GemmaConfig::layout("gemma3");
      require(sliding_window_pattern > 0, "gemma3: found a sliding_window_pattern of {}, expected at least 1",
              sliding_window_pattern);
      windows.apply(
          l, [](int64_t layer, int64_t each) { return (layer + 1) % each != 0; }, sliding_window_pattern);
      const auto local = std::make_shared<const RotaryPositions>(
          RopeConfig{.theta = rope_local_base_freq, .interleaved = rope.interleaved}.rotary(l.head_width,
                                                                                            max_position_embeddings));
      for (LlamaSight& sight : l.layers)
        if (sight.window > 0) sight.rotary = local;
      l.head_norms = true;
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
