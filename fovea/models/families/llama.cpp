// Llama (Touvron et al. 2023), Llama 2 and 3, SmolLM, TinyLlama and others of its shape: RMS norms before attention and
// feed-forward, rotary positions, SwiGLU, heads that share keys and values.
#include "fovea/models/llama_model.h"

namespace fovea {
namespace {

class Llama final : public LlamaModel {
 public:
  struct Config : LlamaConfig {
    bool attention_bias = false, mlp_bias = false;

    void fields(Fields& f) {
      LlamaConfig::fields(f);
      f("attention_bias", attention_bias, "whether queries, keys, values and their output have a bias");
      f("mlp_bias", mlp_bias, "whether the feed-forward layers have a bias");
    }
    LlamaLayout layout() const {
      LlamaLayout l = LlamaConfig::layout("llama");
      l.attention_bias = l.output_bias = attention_bias;
      l.mlp_bias = mlp_bias;
      return l;
    }
  };
  explicit Llama(const Config& c) : LlamaModel(c, c.layout()), config_(c) {}

  std::string_view family() const override { return "llama"; }
  std::string config() const override { return family_json(family(), config_); }

 private:
  Config config_;
};

}  // namespace

extern const Family llama =
    family_of<Llama>("llama", "Llama, SmolLM and others of its shape (Touvron et al. 2023)",
                     R"([{"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4,
         "max_position_embeddings": 64, "num_key_value_heads": [4, 2], "tie_word_embeddings": [true, false],
         "attention_bias": [false, true]},
        {"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8,
         "max_position_embeddings": 64, "mlp_bias": true, "rope_interleaved": [true, false],
         "rope_scaling": {"rope_type": "llama3", "factor": 4, "original_max_position_embeddings": 16}},
        {"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 1, "num_attention_heads": 2,
         "max_position_embeddings": 64, "rope_parameters": {"rope_type": "yarn", "factor": 4, "rope_theta": 5000,
         "original_max_position_embeddings": 16}}])",
                     small_llama);

}  // namespace fovea
