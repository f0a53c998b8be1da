// Qwen3 (Yang et al. 2025): Llama's layers with norms of the queries and keys of each head.
#include "fovea/models/llama_model.h"

namespace fovea {
namespace {

class Qwen3 final : public LlamaModel {
 public:
  struct Config : LlamaConfig {
    LlamaWindows windows = {};
    bool attention_bias = false, use_sliding_window = false;
    int64_t max_window_layers = 28;

    Config() { bos = eos = {}, head_dim = 128; }
    void fields(Fields& f) {
      LlamaConfig::fields(f);
      windows.fields(f);
      f("attention_bias", attention_bias, "whether queries, keys, values and their output have a bias");
      f("use_sliding_window", use_sliding_window, "whether layers have windows");
      f("max_window_layers", max_window_layers, "layers before the first one with a window");
      f.refused({"mlp_bias"});
    }
    LlamaLayout layout() const {
      LlamaLayout l = LlamaConfig::layout("qwen3");
      l.head_norms = true;
      l.attention_bias = l.output_bias = attention_bias;
      if (use_sliding_window)
        windows.apply(
            l, [](int64_t layer, int64_t first) { return layer >= first; }, max_window_layers);
      return l;
    }
  };
  explicit Qwen3(const Config& c) : LlamaModel(c, c.layout()), config_(c) {}

  std::string_view family() const override { return "qwen3"; }
  std::string config() const override { return family_json(family(), config_); }

 private:
  Config config_;
};

}  // namespace

extern const Family qwen3 = family_of<Qwen3>(
    "qwen3", "Qwen3: Llama with norms of queries and keys (Yang et al. 2025)",
    R"([{"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "attention_bias": [false, true]}])",
    small_llama_of_heads);

}  // namespace fovea
