// Mistral (Jiang et al. 2023): Llama's layers, each of which may look at a window of tokens only.
#include "fovea/models/llama_model.h"

namespace fovea {
namespace {

class Mistral final : public LlamaModel {
 public:
  struct Config : LlamaConfig {
    LlamaWindows windows = {};

    void fields(Fields& f) {
      LlamaConfig::fields(f);
      windows.fields(f);
      f.refused({"attention_bias", "mlp_bias"});
    }
    LlamaLayout layout() const {
      LlamaLayout l = LlamaConfig::layout("mistral");
      windows.apply(l, [](int64_t, int64_t) { return true; });
      return l;
    }
  };
  explicit Mistral(const Config& c) : LlamaModel(c, c.layout()), config_(c) {}

  std::string_view family() const override { return "mistral"; }
  std::string config() const override { return family_json(family(), config_); }

 private:
  Config config_;
};

}  // namespace

extern const Family mistral = family_of<Mistral>(
    "mistral", "Mistral: Llama with windows of attention (Jiang et al. 2023)",
    R"([{"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "sliding_window": [null, 5]}])",
    small_llama);

}  // namespace fovea
