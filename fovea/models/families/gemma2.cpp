// Gemma 2 (Gemma Team 2024): Llama's layers with norms behind attention and feed-forward too, all of them by 1 + weight; every
// second layer looks at a window only; scores and logits are held below a cap: x becomes c · tanh(x / c).
#include "fovea/models/gemma_config.h"

namespace fovea {
namespace {

class Gemma2 final : public LlamaModel {
 public:
  struct Config : GemmaConfig {
    Config() { final_logit_softcapping = 30, attn_logit_softcapping = 50; }
    void fields(Fields& f) { GemmaConfig::fields(f), caps(f); }
    LlamaLayout layout() const {
      LlamaLayout l = GemmaConfig::layout("gemma2");
      windows.apply(l, [](int64_t layer, int64_t) { return layer % 2 == 0; });
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
