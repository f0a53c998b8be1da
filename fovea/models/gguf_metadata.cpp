#include "fovea/models/gguf_metadata.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "fovea/base/json.h"
#include "fovea/models/family.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

// The config of a model that was made, so that every key is there and of its type.
struct Source {
  const Json& config;
  const std::string& where;
  GgufShape& shape;

  int64_t integer(const char* key) const { return config.at(key).get<int64_t>(); }
  double number(const char* key) const { return config.at(key).get<double>(); }
  template <class T>
  void set(const char* key, T value) const {
    shape.metadata[shape.architecture + "." + key] = GgufValue::of(value);
  }
  void set_integer(const char* key, int64_t value) const { set(key, static_cast<uint32_t>(value)); }
  void set_number(const char* key, double value) const { set(key, static_cast<float>(value)); }
  [[noreturn]] void refuse(const std::string& found) const {
    throw Error(Error::unsupported, "{}: found {}, which a GGUF file of architecture {} has no words for", where, found,
                shape.architecture);
  }
};

// By how much each frequency is stretched (Llama 3.1): short waves not at all, long ones by the factor, smoothly in between.
Tensor llama3_factors(const Source& s, const Json& scaling, int64_t width) {
  const double factor = scaling.at("factor"), low = scaling.at("low_freq_factor"),
               high = scaling.at("high_freq_factor");
  const auto original = scaling.at("original_max_position_embeddings").get<double>();
  std::vector<float> factors;
  for (int64_t i = 0; i < width / 2; ++i) {
    const double length = 2 * std::numbers::pi *
                          std::pow(s.number("rope_theta"), 2 * static_cast<double>(i) / static_cast<double>(width));
    const double between = std::clamp((original / length - low) / (high - low), 0.0, 1.0);
    factors.push_back(static_cast<float>(1 / ((1 - between) / factor + between)));
  }
  return tensor({width / 2}, factors);
}

void set_scaling(const Source& s, int64_t width) {
  if (!s.config.contains("rope_scaling")) return;
  const Json& scaling = s.config["rope_scaling"];
  const std::string type = scaling.at("rope_type");
  const auto original = scaling.at("original_max_position_embeddings").get<int64_t>();
  if (type == "llama3") {
    s.shape.factors["rope_freqs.weight"] = llama3_factors(s, scaling, width);
  } else if (type == "longrope" || type == "su") {
    for (const char* length : {"long", "short"}) {
      const auto factors = scaling.at(std::string(length) + "_factor").get<std::vector<float>>();
      s.shape.factors[fmt::format("rope_factors_{}.weight", length)] =
          tensor({static_cast<int64_t>(factors.size())}, factors);
    }
    const auto context = static_cast<double>(original);
    const double stretch = s.number("max_position_embeddings") / std::max(1.0, context);
    s.set_number("rope.scaling.attn_factor", stretch <= 1 ? 1 : std::sqrt(1 + std::log(stretch) / std::log(context)));
    s.set_integer("rope.scaling.original_context_length", original);
  } else if (type == "linear" || type == "yarn") {
    s.set("rope.scaling.type", std::string_view(type));
    s.set_number("rope.scaling.factor", scaling.at("factor").get<double>());
    if (original > 0) s.set_integer("rope.scaling.original_context_length", original);
  } else {
    s.refuse(fmt::format("scaling '{}' of rotary positions", type));
  }
}

void decoder(const Source& s) {
  const int64_t heads = s.integer("num_attention_heads"), width = s.integer("hidden_size");
  const int64_t key_heads = s.config.value("num_key_value_heads", int64_t{0});
  const int64_t head_dim = s.config.value("head_dim", int64_t{0});
  const int64_t head = head_dim > 0 ? head_dim : width / heads;
  s.shape.heads = heads, s.shape.key_heads = key_heads > 0 ? key_heads : heads;
  s.set_integer("context_length", s.integer("max_position_embeddings"));
  s.set_integer("embedding_length", width);
  s.set_integer("block_count", s.integer("num_hidden_layers"));
  s.set_integer("feed_forward_length", s.integer("intermediate_size"));
  s.set_integer("attention.head_count", heads);
  s.set_integer("attention.head_count_kv", s.shape.key_heads);
  s.set_integer("attention.key_length", head);
  s.set_integer("attention.value_length", head);
  s.set_number("attention.layer_norm_rms_epsilon", s.number("rms_norm_eps"));
  s.set_number("rope.freq_base", s.number("rope_theta"));
  const auto turned =
      static_cast<int64_t>(std::lround(static_cast<double>(head) * s.config.value("partial_rotary_factor", 1.0)));
  s.set_integer("rope.dimension_count", turned);
  s.set_integer("vocab_size", s.integer("vocab_size"));
  set_scaling(s, turned);
}

// Whether the layers for which `slides` holds, and no others, have a window.
void expect_windows(const Source& s, bool (*slides)(size_t layer)) {
  const Json types = s.config.value("layer_types", Json::array());
  for (size_t i = 0; i < types.size(); ++i)
    if ((types[i] == "sliding_attention") != slides(i)) s.refuse(fmt::format("layer {} with {}", i, types[i].dump()));
}

void without_windows(const Source& s) {
  decoder(s);
  const Json types = s.config.value("layer_types", Json::array());
  const bool slides = types.empty() || std::find(types.begin(), types.end(), "sliding_attention") != types.end();
  if (slides && s.config.value("use_sliding_window", true) && s.config.value("sliding_window", int64_t{0}) > 0)
    s.refuse("windows of attention");
}

void llama(const Source& s) { without_windows(s), s.shape.neighbours_turn = true; }

void gemma2(const Source& s) {
  decoder(s);
  s.shape.norms_plus_one = s.config.value("norm_plus_one", true);
  s.set_integer("attention.sliding_window", s.integer("sliding_window"));
  s.set_number("attn_logit_softcapping", s.number("attn_logit_softcapping"));
  s.set_number("final_logit_softcapping", s.number("final_logit_softcapping"));
  expect_windows(s, [](size_t layer) { return layer % 2 == 0; });
}

void gemma3(const Source& s) {
  decoder(s);
  s.shape.norms_plus_one = s.config.value("norm_plus_one", true);
  s.set_integer("attention.sliding_window", s.integer("sliding_window"));
  s.set_number("rope.freq_base_swa", s.number("rope_local_base_freq"));
  if (s.config.contains("final_logit_softcapping"))
    s.set_number("final_logit_softcapping", s.number("final_logit_softcapping"));
  expect_windows(s, [](size_t layer) { return layer % 6 != 5; });
}

void phi3(const Source& s) {
  decoder(s);
  const int64_t window = s.config.value("sliding_window", int64_t{0});
  if (window > 0) s.set_integer("attention.sliding_window", window);
  expect_windows(s, [](size_t) { return true; });
  if (!s.shape.metadata.count("phi3.rope.scaling.original_context_length"))
    s.set_integer("rope.scaling.original_context_length", s.integer("max_position_embeddings"));
}

void gpt2(const Source& s) {
  s.set_integer("context_length", s.integer("n_positions"));
  s.set_integer("embedding_length", s.integer("n_embd"));
  s.set_integer("block_count", s.integer("n_layer"));
  s.set_integer("feed_forward_length", s.config.value("n_inner", 4 * s.integer("n_embd")));
  s.set_integer("attention.head_count", s.integer("n_head"));
  s.set_number("attention.layer_norm_epsilon", s.number("layer_norm_epsilon"));
}

void bert(const Source& s) {
  s.set_integer("context_length", s.integer("max_position_embeddings"));
  s.set_integer("embedding_length", s.integer("hidden_size"));
  s.set_integer("block_count", s.integer("num_hidden_layers"));
  s.set_integer("feed_forward_length", s.integer("intermediate_size"));
  s.set_integer("attention.head_count", s.integer("num_attention_heads"));
  s.set_number("attention.layer_norm_epsilon", s.number("layer_norm_eps"));
  s.set("attention.causal", false);
  s.shape.metadata["tokenizer.ggml.token_type_count"] =
      GgufValue::of(static_cast<uint32_t>(s.integer("type_vocab_size")));
}

struct Known {
  std::string_view family;
  const char* architecture;
  void (*write)(const Source&);
};
constexpr Known known_families[] = {{"llama", "llama", llama},
                                    {"mistral", "llama", llama},
                                    {"qwen2", "qwen2", without_windows},
                                    {"qwen3", "qwen3", without_windows},
                                    {"gemma2", "gemma2", gemma2},
                                    {"gemma3_text", "gemma3", gemma3},
                                    {"phi3", "phi3", phi3},
                                    {"gpt2", "gpt2", gpt2},
                                    {"bert", "bert", bert}};

// Keys that may differ: names, ids, what only training looks at, and how the file's weights stand.
bool may_differ(std::string_view key) {
  constexpr std::string_view keys[] = {"model_type",       "architectures",    "bos_token_id",   "eos_token_id",
                                       "pad_token_id",     "rope_interleaved", "norm_plus_one",  "layer_types",
                                       "id2label",         "problem_type",     "sliding_window", "use_sliding_window",
                                       "max_window_layers"};
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys) || key.find("drop") != key.npos;
}

bool same(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return a == b;
  const auto x = a.get<double>(), y = b.get<double>();
  return std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y));
}

}  // namespace

GgufShape gguf_shape(const Model& model, const std::string& where) {
  const Json config = parse_json(model.config(), where);
  std::string all;
  for (const auto& [family, architecture, write] : known_families) {
    all += (all.empty() ? "" : ", ") + std::string(family);
    if (family != model.family()) continue;
    GgufShape shape;
    shape.architecture = architecture;
    shape.metadata["general.architecture"] = GgufValue::of(architecture);
    write({config, where, shape});
    return shape;
  }
  throw Error(Error::unsupported, "{}: found a model of family '{}', expected one that GGUF files have words for: {}",
              where, model.family(), all);
}

void check_same_config(const Model& given, const std::string& written, const std::string& where) {
  const Json wanted = parse_json(given.config(), where), text = parse_json(written, where);
  const std::unique_ptr<ModelConfig> config = find<Family>(text.at("model_type").get<std::string>()).config();
  FamilyConfig<ModelConfig> both = {"", *config};
  from_foreign_json(written, both, where);
  const Json found = parse_json(config->make()->config(), where);
  for (const auto& [key, value] : wanted.items()) {
    if (may_differ(key) || !found.contains(key) || same(value, found[key])) continue;
    throw Error(Error::unsupported, "{}: found {} {}, which a GGUF file has no words for: it would say {}", where, key,
                value.dump(), found[key].dump());
  }
}

}  // namespace fovea
