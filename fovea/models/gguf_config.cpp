#include "fovea/models/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

// Keys of one architecture, such as "llama.block_count".
class Keys final {
 public:
  explicit Keys(const Gguf& file) : file_(file), prefix_(file.text("general.architecture") + ".") {}

  const Gguf& file() const { return file_; }
  std::string architecture() const { return prefix_.substr(0, prefix_.size() - 1); }
  bool has(const char* key) const { return file_.contains(prefix_ + key); }
  int64_t integer(const char* key) const { return file_.integer(prefix_ + key); }
  int64_t integer(const char* key, int64_t otherwise) const { return file_.integer(prefix_ + key, otherwise); }
  // Floats of 32 bits as people write them: 1e-05, not 9.999999747378752e-06.
  double number(const char* key) const { return in_short(file_.number(prefix_ + key)); }
  double number(const char* key, double otherwise) const { return has(key) ? number(key) : otherwise; }
  std::string text(const char* key, const char* otherwise) const { return file_.text(prefix_ + key, otherwise); }

  static double in_short(double x) { return std::stod(fmt::format("{}", static_cast<float>(x))); }

 private:
  const Gguf& file_;
  std::string prefix_;
};

int64_t head_width(const Keys& keys) {
  const int64_t heads = keys.integer("attention.head_count"), width = keys.integer("embedding_length");
  if (heads < 1 || width < 1)
    throw Error(Error::corrupt, "{}: found {} heads of {} numbers together, expected 1 or more",
                keys.file().path().string(), heads, width);
  return keys.integer("attention.key_length", width / heads);
}

Json numbers_of(const Gguf& file, const std::string& name) {
  Json list = Json::array();
  for (double x : file.numbers_of(name).values<double>()) list.push_back(Keys::in_short(x));
  return list;
}

// Llama 3's scaling: waves of more than original / low tokens are `factor` times as long, those of less than original / high stay, and
// between them the factors go over smoothly. A file has the factors alone; all models of this kind have low 1, high 4, original 8192.
Json llama3_scaling(const Keys& keys, const std::vector<float>& factors) {
  const double factor = Keys::in_short(*std::max_element(factors.begin(), factors.end()));
  const double low = 1, high = 4, original = 8192, base = keys.number("rope.freq_base", 10000);
  const auto width = static_cast<double>(2 * factors.size());
  for (size_t i = 0; i < factors.size(); ++i) {
    const double length = 2 * M_PI * std::pow(base, 2.0 * static_cast<double>(i) / width);
    double expected = 1;
    if (length > original / low)
      expected = factor;
    else if (length > original / high)
      expected =
          1 / ((1 - (original / length - low) / (high - low)) / factor + (original / length - low) / (high - low));
    if (std::abs(factors[i] - expected) > 1e-3 * expected)
      throw Error(Error::unsupported, "{}: found factor {} of rotary positions {}, expected {} as Llama 3 has it",
                  keys.file().path().string(), factors[i], i, expected);
  }
  return {{"rope_type", "llama3"},
          {"factor", factor},
          {"low_freq_factor", low},
          {"high_freq_factor", high},
          {"original_max_position_embeddings", 8192}};
}

void add_rope_scaling(const Keys& keys, Json& config) {
  const Gguf& file = keys.file();
  const std::string type = keys.text("rope.scaling.type", "none");
  if (file.has("rope_freqs.weight")) {
    const std::vector<float> factors = file.numbers_of("rope_freqs.weight").values<float>();
    const bool all_one = std::all_of(factors.begin(), factors.end(), [](float f) { return f == 1; });
    if (!all_one) config["rope_scaling"] = llama3_scaling(keys, factors);
  } else if (file.has("rope_factors_long.weight")) {
    config["rope_scaling"] = {{"type", "longrope"},
                              {"long_factor", numbers_of(file, "rope_factors_long.weight")},
                              {"short_factor", numbers_of(file, "rope_factors_short.weight")}};
  } else if (type == "linear" || type == "yarn") {
    config["rope_scaling"] = {{"rope_type", type}, {"factor", keys.number("rope.scaling.factor")}};
    if (keys.has("rope.scaling.original_context_length"))
      config["rope_scaling"]["original_max_position_embeddings"] = keys.integer("rope.scaling.original_context_length");
  } else if (type != "none") {
    throw Error(Error::unsupported, "{}: found scaling '{}' of rotary positions, expected none, linear or yarn",
                file.path().string(), type);
  }
}

// What llama, qwen, gemma and phi3 have in common.
Json decoder(const Keys& keys, const char* model_type, const char* architecture) {
  if (keys.integer("expert_count", 0) > 0)
    throw Error(Error::unsupported, "{}: found a mixture of {} experts, expected a dense model",
                keys.file().path().string(), keys.integer("expert_count"));
  const int64_t heads = keys.integer("attention.head_count");
  Json config = {{"model_type", model_type},
                 {"architectures", {architecture}},
                 {"hidden_size", keys.integer("embedding_length")},
                 {"intermediate_size", keys.integer("feed_forward_length")},
                 {"num_hidden_layers", keys.integer("block_count")},
                 {"num_attention_heads", heads},
                 {"num_key_value_heads", keys.integer("attention.head_count_kv", heads)},
                 {"head_dim", head_width(keys)},
                 {"max_position_embeddings", keys.integer("context_length")},
                 {"rms_norm_eps", keys.number("attention.layer_norm_rms_epsilon")},
                 {"rope_theta", keys.number("rope.freq_base", 10000)}};
  if (keys.has("attention.sliding_window")) config["sliding_window"] = keys.integer("attention.sliding_window");
  add_rope_scaling(keys, config);
  return config;
}

Json llama(const Keys& keys) {
  Json config = decoder(keys, "llama", "LlamaForCausalLM");
  config["hidden_act"] = "silu";
  config["attention_bias"] = keys.file().has("blk.0.attn_q.bias");
  config["mlp_bias"] = keys.file().has("blk.0.ffn_up.bias");
  config["rope_interleaved"] = true;
  return config;
}

Json qwen2(const Keys& keys) {
  Json config = decoder(keys, "qwen2", "Qwen2ForCausalLM");
  config["hidden_act"] = "silu";
  return config;
}

Json qwen3(const Keys& keys) {
  Json config = decoder(keys, "qwen3", "Qwen3ForCausalLM");
  config["hidden_act"] = "silu";
  config["attention_bias"] = keys.file().has("blk.0.attn_q.bias");
  return config;
}

// The scale of gemma's scores is that of a head's width, but in the models of 27 billion weights, that of width / heads.
Json gemma(Json config, const Keys& keys, int64_t layers_of_27b) {
  const int64_t heads = keys.integer("attention.head_count"), width = keys.integer("embedding_length");
  const bool largest = keys.integer("block_count") == layers_of_27b;
  config["query_pre_attn_scalar"] = largest ? width / heads : head_width(keys);
  config["hidden_activation"] = "gelu_pytorch_tanh";
  config["norm_plus_one"] = false;
  return config;
}

Json gemma2(const Keys& keys) {
  Json config = gemma(decoder(keys, "gemma2", "Gemma2ForCausalLM"), keys, 46);
  config["sliding_window"] = keys.integer("attention.sliding_window", 4096);
  config["attn_logit_softcapping"] = keys.number("attn_logit_softcapping", 50);
  config["final_logit_softcapping"] = keys.number("final_logit_softcapping", 30);
  return config;
}

Json gemma3(const Keys& keys) {
  Json config = gemma(decoder(keys, "gemma3_text", "Gemma3ForCausalLM"), keys, 62);
  config["rope_theta"] = keys.number("rope.freq_base", 1e6);
  config["rope_local_base_freq"] = keys.number("rope.freq_base_swa", 10000);
  config["sliding_window_pattern"] = 6;
  if (keys.has("final_logit_softcapping")) config["final_logit_softcapping"] = keys.number("final_logit_softcapping");
  return config;
}

Json phi3(const Keys& keys) {
  Json config = decoder(keys, "phi3", "Phi3ForCausalLM");
  config["hidden_act"] = "silu";
  const int64_t positions = keys.integer("context_length"),
                turned = keys.integer("rope.dimension_count", head_width(keys));
  config["original_max_position_embeddings"] = keys.integer("rope.scaling.original_context_length", positions);
  if (turned != head_width(keys))
    config["partial_rotary_factor"] = static_cast<double>(turned) / static_cast<double>(head_width(keys));
  return config;
}

Json gpt2(const Keys& keys) {
  return {{"model_type", "gpt2"},
          {"architectures", {"GPT2LMHeadModel"}},
          {"n_embd", keys.integer("embedding_length")},
          {"n_layer", keys.integer("block_count")},
          {"n_head", keys.integer("attention.head_count")},
          {"n_positions", keys.integer("context_length")},
          {"n_inner", keys.integer("feed_forward_length")},
          {"layer_norm_epsilon", keys.number("attention.layer_norm_epsilon")},
          {"activation_function", "gelu_new"}};
}

Json bert(const Keys& keys) {
  return {{"model_type", "bert"},
          {"architectures", {"BertModel"}},
          {"hidden_size", keys.integer("embedding_length")},
          {"intermediate_size", keys.integer("feed_forward_length")},
          {"num_hidden_layers", keys.integer("block_count")},
          {"num_attention_heads", keys.integer("attention.head_count")},
          {"max_position_embeddings", keys.integer("context_length")},
          {"layer_norm_eps", keys.number("attention.layer_norm_epsilon")},
          {"type_vocab_size", keys.file().integer("tokenizer.ggml.token_type_count", 2)},
          {"hidden_act", "gelu"}};
}

struct Architecture {
  const char* name;
  Json (*config)(const Keys&);
};
constexpr Architecture architectures[] = {{"llama", llama},   {"qwen2", qwen2}, {"qwen3", qwen3}, {"gemma2", gemma2},
                                          {"gemma3", gemma3}, {"phi3", phi3},   {"gpt2", gpt2},   {"bert", bert}};

}  // namespace

std::string gguf_config(const Gguf& file) {
  const Keys keys(file);
  for (const auto& [name, config_of] : architectures) {
    if (keys.architecture() != name) continue;
    Json config = config_of(keys);
    config["vocab_size"] = file.shape("token_embd.weight")[0];
    if (keys.architecture() != "bert") config["tie_word_embeddings"] = !file.has("output.weight");
    for (const auto& [key, id] : {std::pair{"bos_token_id", "bos_token_id"},
                                  {"eos_token_id", "eos_token_id"},
                                  {"pad_token_id", "padding_token_id"}}) {
      const std::string stored = std::string("tokenizer.ggml.") + id;
      if (file.contains(stored)) config[key] = file.integer(stored);
    }
    return config.dump(2) + "\n";
  }
  std::string known;
  for (const Architecture& a : architectures) known += (known.empty() ? "" : ", ") + std::string(a.name);
  throw Error(Error::unsupported, "{}: found the architecture '{}', expected one of {}", file.path().string(),
              keys.architecture(), known);
}

}  // namespace fovea
