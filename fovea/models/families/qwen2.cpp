// Qwen2 and Qwen2.5 (Yang et al. 2024): Llama's layers with a bias for queries, keys and values; the layers from
// max_window_layers on may look at a window of tokens only.
#include "fovea/models/llama_model.h"

namespace fovea {
namespace {

class Qwen2 final : public LlamaModel {
 public:
  struct Config : LlamaConfig {
    LlamaWindows windows = {};
    bool use_sliding_window = false;
    int64_t max_window_layers = 28;

    Config() { bos = eos = {}; }
    void fields(Fields& f) {
      LlamaConfig::fields(f);
      windows.fields(f);
      f("use_sliding_window", use_sliding_window, "whether layers have windows");
      f("max_window_layers", max_window_layers, "layers before the first one with a window");
      f.refused({"mlp_bias"});
    }
    LlamaLayout layout() const {
      LlamaLayout l = LlamaConfig::layout("qwen2");
      l.attention_bias = true;
      if (use_sliding_window)
        windows.apply(
            l, [](int64_t layer, int64_t first) { return layer >= first; }, max_window_layers);
      return l;
    }
  };
  explicit Qwen2(const Config& c) : LlamaModel(c, c.layout()), config_(c) {}

  std::string_view family() const override { return "qwen2"; }
  std::string config() const override { return family_json(family(), config_); }

 private:
  Config config_;
};

}  // namespace

extern const Family qwen2 = family_of<Qwen2>(
    "qwen2", "Qwen2 and Qwen2.5: Llama with biases in attention (Yang et al. 2024)",
    R"([{"hidden_size": 24, "intermediate_size": 33, "num_hidden_layers": 2, "num_attention_heads": 4, "sliding_window": 5,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "max_window_layers": 1, "tie_word_embeddings": true,
         "use_sliding_window": [true, false]}])",
    small_llama);

}  // namespace fovea
