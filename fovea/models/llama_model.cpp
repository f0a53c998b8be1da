#include "fovea/models/llama_model.h"

#include <algorithm>

#include "fovea/attention/cache.h"
#include "fovea/nn/activation.h"

namespace fovea {

void LlamaConfig::fields(Fields& f) {
  f.from_data("vocab_size", vocab_size, "size of the vocabulary");
  f("hidden_size", hidden_size, "width of the states between layers");
  f("intermediate_size", intermediate_size, "width inside the feed-forward layers");
  f("num_hidden_layers", num_hidden_layers, "layers");
  f("num_attention_heads", num_attention_heads, "heads of each attention");
  if (f.reads() || num_key_value_heads > 0)
    f("num_key_value_heads", num_key_value_heads, "heads of keys and values, each for several of the queries'");
  if (f.reads() || head_dim > 0) f("head_dim", head_dim, "width of a head");
  f("max_position_embeddings", max_position_embeddings, "tokens that a text may have");
  f("rms_norm_eps", rms_norm_eps, "ε of the norms");
  f("hidden_act", hidden_act, "activation of the feed-forward layers");
  f("tie_word_embeddings", tie_word_embeddings, "whether the output shares the embedding");
  rope.fields(f);
  f.ids("bos_token_id", bos);
  f.ids("eos_token_id", eos);
  f.ids("pad_token_id", pad);
  f.passed_over({"architectures", "id2label", "problem_type", "attention_dropout", "resid_pdrop", "embd_pdrop",
                 "layer_types", "sliding_window", "unk_token_id", "is_llama_config", "rope_scaling",
                 "rope_parameters"});
  f.refused({"quantization_config", "use_bidirectional_attention", "num_local_experts", "num_experts", "use_qk_norm",
             "qk_layernorm", "residual_multiplier", "embedding_multiplier", "attention_multiplier", "logits_scaling",
             "logit_scale", "qkv_bias", "use_bias", "bias", "no_rope_layers", "parallel_attn", "encoder_layers"});
  pass_over_foreign(f);
}

LlamaLayout LlamaConfig::layout(std::string_view model) const {
  const int64_t key_heads = num_key_value_heads > 0 ? num_key_value_heads : num_attention_heads;
  for (const auto& [name, value] : {std::pair{"vocab_size", vocab_size},
                                    {"hidden_size", hidden_size},
                                    {"intermediate_size", intermediate_size},
                                    {"num_attention_heads", num_attention_heads},
                                    {"max_position_embeddings", max_position_embeddings}})
    check_size(model, name, value);
  check_layers(model, "num_hidden_layers", num_hidden_layers);
  require(head_dim >= 0 && num_key_value_heads >= 0 && num_attention_heads % key_heads == 0,
          "{}: found {} heads and {} of keys, expected a multiple", model, num_attention_heads, key_heads);
  require(head_dim > 0 || hidden_size % num_attention_heads == 0,
          "{}: found a hidden_size of {} for {} heads, expected a multiple (or a head_dim)", model, hidden_size,
          num_attention_heads);
  require(head_dim <= 1 << 16 && num_attention_heads <= 1 << 16,
          "{}: found {} heads of {}, expected at most 65536 of both", model, num_attention_heads, head_dim);
  require(num_attention_heads * std::max<int64_t>(head_dim, 1) <= int64_t{1} << 30 && hidden_size <= int64_t{1} << 30,
          "{}: found a width of {} and {} heads of {}, expected at most 2³⁰ of each", model, hidden_size,
          num_attention_heads, head_dim);
  LlamaLayout l = {.vocabulary = vocab_size,
                   .width = hidden_size,
                   .hidden = intermediate_size,
                   .heads = num_attention_heads,
                   .key_heads = key_heads,
                   .head_width = head_dim > 0 ? head_dim : hidden_size / num_attention_heads};
  l.epsilon = rms_norm_eps;
  l.activation = activation_named(hidden_act);
  l.tied = tie_word_embeddings;
  const auto rotary = std::make_shared<const RotaryPositions>(rope.rotary(l.head_width, max_position_embeddings));
  l.layers.assign(static_cast<size_t>(num_hidden_layers), {.rotary = rotary});
  return l;
}

void LlamaWindows::fields(Fields& f) {
  if (f.reads() || window > 0) f("sliding_window", window, "tokens that layers with a window look back at");
  if (f.reads() || !layer_types.empty()) f("layer_types", layer_types, "which layers have one");
}

void LlamaWindows::apply(LlamaLayout& l, bool (*sliding)(int64_t layer, int64_t number), int64_t number) const {
  require(layer_types.empty() || layer_types.size() == l.layers.size(),
          "layer_types: found {}, expected one for each of {} layers", layer_types.size(), l.layers.size());
  require(window >= 0, "sliding_window: found {}, expected 0 or more", window);
  for (size_t i = 0; i < l.layers.size(); ++i) {
    if (!layer_types.empty())
      check_choice("model", "layer_types", layer_types[i], {"sliding_attention", "full_attention"});
    const bool slides =
        layer_types.empty() ? sliding(static_cast<int64_t>(i), number) : layer_types[i] == "sliding_attention";
    if (slides) l.layers[i].window = window;
  }
}

LlamaModel::LlamaModel(const LlamaConfig& c, const LlamaLayout& l)
    : vocabulary_(c.vocab_size),
      longest_(c.rope.longest(c.max_position_embeddings)),
      tied_(c.tie_word_embeddings),
      stops_(c.rope.type == "dynamic" || longest_ < c.max_position_embeddings),
      special_({first_id("pad_token_id", c.pad, c.vocab_size), first_id("bos_token_id", c.bos, c.vocab_size),
                first_id("eos_token_id", c.eos, c.vocab_size), -1}),
      ends_(c.eos),
      stack_(l) {
  std::erase(ends_, -1);
}

// Of a model that reads pictures too, the part that reads texts: language_model.model.…, or model.language_model.….
std::string LlamaModel::weight_path(const std::string& name) const {
  std::string stored = name;
  if (stored.starts_with("language_model.")) stored.erase(0, 15);
  if (stored.starts_with("model.language_model.")) stored.erase(6, 15);
  if (stored.ends_with("rotary_emb.inv_freq") || (tied_ && stored == "lm_head.weight")) return "";
  const bool bare = stored.starts_with("layers.") || stored.starts_with("embed_tokens.") || stored.starts_with("norm.");
  return bare ? "model." + stored : stored;
}

Tensor LlamaModel::states(const Tensor& ids, const Context& c) const {
  if (stops_) {
    int64_t last = ids.size(1) - 1;
    if (c.cache) last = c.cache->positions().empty() ? 0 : *std::ranges::max_element(c.cache->positions());
    require(last < longest_,
            "{}: found a text of {} tokens, expected at most {}: with its rope_type a longer one changes what was read "
            "before",
            family(), last + 1, longest_);
  }
  return stack_.states(ids, c);
}

}  // namespace fovea
