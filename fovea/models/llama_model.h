// A language model with Llama's layers: what its families share beside them. Each has its own config, which says what is different.
//
//   class Mistral final : public LlamaModel { … explicit Mistral(const Config& c) : LlamaModel(c, c.layout()) … };
#pragma once

#include "fovea/models/causal.h"
#include "fovea/models/llama_layers.h"
#include "fovea/models/rope.h"

namespace fovea {

// The part of config.json that all of them have.
struct LlamaConfig {
  int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, num_hidden_layers = 32;
  int64_t num_attention_heads = 32, num_key_value_heads = 0, head_dim = 0;  // 0: as many; hidden_size / heads
  int64_t max_position_embeddings = 2048;
  double rms_norm_eps = 1e-6;
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false;
  RopeConfig rope = {};
  std::vector<int64_t> bos = {1}, eos = {2}, pad = {};  // none, one or several

  void fields(Fields& f);

  // The layout of these sizes, every layer seeing everything. An Error that names the model if they do not go together.
  LlamaLayout layout(std::string_view model) const;
};

// What a training from nothing begins with: a model that two cores can train. The second for families that have a width of heads of
// their own.
inline constexpr std::string_view small_llama =
    R"({"hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 6, "num_attention_heads": 8,
        "max_position_embeddings": 256, "tie_word_embeddings": true, "learning_rate": 1e-3})";
inline constexpr std::string_view small_llama_of_heads =
    R"({"hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 6, "num_attention_heads": 8, "head_dim": 32,
        "num_key_value_heads": 8, "max_position_embeddings": 256, "tie_word_embeddings": true, "learning_rate": 1e-3})";

// Which layers look at a window only, as config.json says it.
struct LlamaWindows {
  int64_t window = 0;                         // 0 or null: none
  std::vector<std::string> layer_types = {};  // "sliding_attention" or "full_attention" for each, if given

  void fields(Fields& f);
  // Windows for the layers that layer_types names, or else those for which `sliding` holds.
  void apply(LlamaLayout&, bool (*sliding)(int64_t layer, int64_t number), int64_t number = 0) const;
};

class LlamaModel : public CausalModel {
 public:
  LlamaModel(const LlamaConfig&, const LlamaLayout&);

  void weights(Weights& w) final { stack_.weights(w); }
  int64_t vocabulary() const final { return vocabulary_; }
  bool foreign() const final { return true; }
  std::string weight_path(const std::string& stored) const final;
  SpecialIds special_ids() const final { return special_; }
  std::vector<int64_t> end_ids() const final { return ends_; }
  int64_t longest() const final { return longest_; }

 protected:
  void list_places(const Places& p) const final { stack_.places(p); }
  Tensor states(const Tensor& ids, const Context&) const final;
  Tensor output(const Tensor& states) const final { return stack_.logits(states); }

 private:
  int64_t vocabulary_, longest_;
  bool tied_, stops_;  // whether there are no numbers for what is beyond the longest text
  SpecialIds special_;
  std::vector<int64_t> ends_;
  LlamaStack stack_;
};

}  // namespace fovea
