// The names of tensors, of GGUF and of Hugging Face side by side.
#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "fovea/models/gguf_config.h"

namespace fovea {
namespace {

struct Name {
  std::string_view gguf, hugging_face;  // without ".weight" or ".bias"; of a layer without its number
};

struct Names {
  std::string_view architecture, layers;
  std::span<const Name> outside, inside;  // of the layers
};

constexpr Name decoder_ends[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
constexpr Name decoder[] = {{"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
                            {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
                            {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
                            {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
                            {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
                            {"ffn_down", "mlp.down_proj"}};
constexpr Name gemma[] = {{"attn_norm", "input_layernorm"},
                          {"attn_q", "self_attn.q_proj"},
                          {"attn_k", "self_attn.k_proj"},
                          {"attn_v", "self_attn.v_proj"},
                          {"attn_output", "self_attn.o_proj"},
                          {"attn_q_norm", "self_attn.q_norm"},
                          {"attn_k_norm", "self_attn.k_norm"},
                          {"post_attention_norm", "post_attention_layernorm"},
                          {"ffn_norm", "pre_feedforward_layernorm"},
                          {"post_ffw_norm", "post_feedforward_layernorm"},
                          {"ffn_gate", "mlp.gate_proj"},
                          {"ffn_up", "mlp.up_proj"},
                          {"ffn_down", "mlp.down_proj"}};
constexpr Name phi3[] = {{"attn_norm", "input_layernorm"},    {"attn_qkv", "self_attn.qkv_proj"},
                         {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
                         {"ffn_up", "mlp.gate_up_proj"},      {"ffn_down", "mlp.down_proj"}};
constexpr Name gpt2_ends[] = {
    {"token_embd", "wte"}, {"position_embd", "wpe"}, {"output_norm", "ln_f"}, {"output", "lm_head"}};
constexpr Name gpt2[] = {{"attn_norm", "ln_1"}, {"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"},
                         {"ffn_norm", "ln_2"},  {"ffn_up", "mlp.c_fc"},      {"ffn_down", "mlp.c_proj"}};
constexpr Name bert_ends[] = {{"token_embd", "embeddings.word_embeddings"},
                              {"position_embd", "embeddings.position_embeddings"},
                              {"token_types", "embeddings.token_type_embeddings"},
                              {"token_embd_norm", "embeddings.LayerNorm"},
                              {"cls", "classifier"}};
constexpr Name bert[] = {{"attn_q", "attention.self.query"},
                         {"attn_k", "attention.self.key"},
                         {"attn_v", "attention.self.value"},
                         {"attn_output", "attention.output.dense"},
                         {"attn_output_norm", "attention.output.LayerNorm"},
                         {"ffn_up", "intermediate.dense"},
                         {"ffn_down", "output.dense"},
                         {"layer_output_norm", "output.LayerNorm"}};

constexpr Names all_names[] = {{"llama", "model.layers.", decoder_ends, decoder},
                               {"qwen2", "model.layers.", decoder_ends, decoder},
                               {"qwen3", "model.layers.", decoder_ends, decoder},
                               {"gemma2", "model.layers.", decoder_ends, gemma},
                               {"gemma3", "model.layers.", decoder_ends, gemma},
                               {"phi3", "model.layers.", decoder_ends, phi3},
                               {"gpt2", "h.", gpt2_ends, gpt2},
                               {"bert", "encoder.layer.", bert_ends, bert}};

constexpr std::string_view in_the_config[] = {"rope_freqs.weight", "rope_factors_long.weight",
                                              "rope_factors_short.weight"};

const Names* names_of(std::string_view architecture) {
  for (const Names& names : all_names)
    if (names.architecture == architecture) return &names;
  return nullptr;
}

std::optional<std::string_view> found(std::span<const Name> names, std::string_view gguf) {
  for (const Name& name : names)
    if (name.gguf == gguf) return name.hugging_face;
  return std::nullopt;
}

// "blk.3.attn_q.weight" → "model.layers.3.self_attn.q_proj.weight"
std::optional<std::string> hugging_face_name(const Names& names, std::string_view gguf) {
  const size_t dot = gguf.rfind('.');
  if (dot == gguf.npos || (gguf.substr(dot) != ".weight" && gguf.substr(dot) != ".bias")) return std::nullopt;
  const std::string suffix(gguf.substr(dot));
  std::string_view stem = gguf.substr(0, dot);
  if (!stem.starts_with("blk.")) {
    const auto name = found(names.outside, stem);
    return name ? std::optional(std::string(*name) + suffix) : std::nullopt;
  }
  stem.remove_prefix(4);
  const size_t end = stem.find('.');
  if (end == stem.npos || end == 0 || end > 9) return std::nullopt;
  const std::string_view number = stem.substr(0, end);
  int layer = 0;
  const auto [rest, failed] = std::from_chars(number.data(), number.data() + number.size(), layer);
  if (failed != std::errc() || rest != number.data() + number.size() || layer < 0) return std::nullopt;
  const auto name = found(names.inside, stem.substr(end + 1));
  if (!name) return std::nullopt;
  return fmt::format("{}{}.{}{}", names.layers, layer, *name, suffix);
}

}  // namespace

std::optional<std::string> gguf_name(std::string_view architecture, std::string_view hugging_face) {
  const Names* names = names_of(architecture);
  const size_t dot = hugging_face.rfind('.');
  if (!names || dot == hugging_face.npos) return std::nullopt;
  const std::string suffix(hugging_face.substr(dot));
  if (suffix != ".weight" && suffix != ".bias") return std::nullopt;
  std::string_view stem = hugging_face.substr(0, dot);
  if (!stem.starts_with(names->layers)) {
    for (const Name& name : names->outside)
      if (name.hugging_face == stem) return std::string(name.gguf) + suffix;
    return std::nullopt;
  }
  stem.remove_prefix(names->layers.size());
  const size_t end = stem.find('.');
  if (end == stem.npos) return std::nullopt;
  for (const Name& name : names->inside)
    if (name.hugging_face == stem.substr(end + 1))
      return fmt::format("blk.{}.{}{}", stem.substr(0, end), name.gguf, suffix);
  return std::nullopt;
}

std::map<std::string, std::string> hugging_face_names(const Gguf& file) {
  const std::string architecture = file.text("general.architecture");
  const Names* names = names_of(architecture);
  if (!names)
    throw Error(Error::unsupported, "{}: found the architecture '{}', whose tensors have no names here",
                file.path().string(), architecture);
  std::map<std::string, std::string> all;
  const auto add = [&](const std::string& gguf) {
    if (std::find(std::begin(in_the_config), std::end(in_the_config), gguf) != std::end(in_the_config)) return;
    const auto name = hugging_face_name(*names, gguf);
    if (!name || !all.emplace(*name, gguf).second)
      throw Error(Error::unsupported, "{}: found a tensor '{}', which {} has no name for", file.path().string(), gguf,
                  architecture);
  };
  for (const auto& [name, tensor] : file.tensors()) add(name);
  for (const auto& [name, blocks] : file.blocks()) add(name);
  for (const auto& [name, type] : file.skipped()) add(name);
  return all;
}

}  // namespace fovea
