// What Gemma 2 and Gemma 3 share beyond Llama's config: windows, norms behind attention and feed-forward, all of them by 1 + weight,
// embeddings times √width, and caps: a score or logit x becomes c · tanh(x / c).
//
//   struct Config : GemmaConfig { LlamaLayout layout() const { LlamaLayout l = GemmaConfig::layout("gemma2"); … return l; } };
#pragma once

#include <string>

#include "fovea/models/llama_model.h"

namespace fovea {

struct GemmaConfig : LlamaConfig {
  LlamaWindows windows = {.window = 4096};
  std::string hidden_activation = "gelu_pytorch_tanh";
  double query_pre_attn_scalar = 256, final_logit_softcapping = 0, attn_logit_softcapping = 0;
  bool attention_bias = false, norm_plus_one = true;

  GemmaConfig();
  void fields(Fields& f);                             // all but the caps, which not every family writes down
  void caps(Fields& f);                               // these
  LlamaLayout layout(std::string_view family) const;  // which layers have a window is left to the family
};

}  // namespace fovea
