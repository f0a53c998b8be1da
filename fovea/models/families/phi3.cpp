// Phi-3 and Phi-4-mini (Abdin et al. 2024): Llama's layers, with one matrix for queries, keys and values, and one for gate and up.
#include "fovea/models/llama_model.h"

namespace fovea {
namespace {

class Phi3 final : public LlamaModel {
 public:
  struct Config : LlamaConfig {
    LlamaWindows windows = {};

    Config() { rms_norm_eps = 1e-5; }
    void fields(Fields& f) {
      LlamaConfig::fields(f);
      windows.fields(f);
      if (f.reads()) f("original_max_position_embeddings", rope.original_positions, "");
      if (f.reads() && rope.type == "yarn") rope.type = "longrope";  // as early files of this family call it
      f.refused({"attention_bias", "mlp_bias"});
    }
    LlamaLayout layout() const {
      LlamaLayout l = LlamaConfig::layout("phi3");
      l.fused = true;
      windows.apply(l, [](int64_t, int64_t) { return true; });
      return l;
    }
  };
  explicit Phi3(const Config& c) : LlamaModel(c, c.layout()), config_(c) {}

  std::string_view family() const override { return "phi3"; }
  std::string config() const override { return family_json(family(), config_); }

 private:
  Config config_;
};

}  // namespace

extern const Family phi3 =
    family_of<Phi3>("phi3", "Phi-3: Llama with fused matrices (Abdin et al. 2024)",
                    R"([{"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "sliding_window": [null, 5]},
        {"hidden_size": 32, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4,
         "max_position_embeddings": 64, "original_max_position_embeddings": 32, "partial_rotary_factor": 0.5,
         "rope_scaling": {"rope_type": "longrope", "short_factor": [1, 1.5], "long_factor": [1, 4]}}])",
                    small_llama);

}  // namespace fovea
