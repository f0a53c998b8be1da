#include "fovea/generate/transformers_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

// Under Transformers' names. −1: not said.
struct Read {
  GenerationConfig& config;
  int64_t min_length = -1, max_length = -1, min_new_tokens = -1, max_new_tokens = -1;

  void fields(Fields& f) {
    f("num_beams", config.beam_size, "");
    f("num_return_sequences", config.n_best, "");
    f("length_penalty", config.length_penalty, "");
    f("do_sample", config.sample, "");
    f("temperature", config.temperature, "");
    f("top_k", config.top_k, "");
    f("top_p", config.top_p, "");
    f("repetition_penalty", config.repetition_penalty, "");
    f("no_repeat_ngram_size", config.no_repeat_ngram, "");
    f("min_length", min_length, "");
    f("max_length", max_length, "");
    f("min_new_tokens", min_new_tokens, "");
    f("max_new_tokens", max_new_tokens, "");
    f.ids("suppress_tokens", config.never);
  }
};

// A kind of search that is asked for, though there is none such here.
void refuse_others(const Json& json, std::string_view where) {
  const std::pair<const char*, Json> off[] = {{"num_beam_groups", 1},
                                              {"diversity_penalty", 0},
                                              {"penalty_alpha", 0},
                                              {"encoder_no_repeat_ngram_size", 0},
                                              {"typical_p", 1},
                                              {"encoder_repetition_penalty", 1},
                                              {"force_words_ids", {}},
                                              {"exponential_decay_length_penalty", {}},
                                              {"sequence_bias", {}},
                                              {"guidance_scale", 1},
                                              {"begin_suppress_tokens", {}}};
  for (const auto& [key, value] : off) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null() || *found == value) continue;
    throw Error(Error::unsupported, "{}: '{}': found {}, expected {}: there is no such search here", where, key,
                found->dump(), value.dump());
  }
}

int64_t one_id(const Json& json, const char* key, std::string_view where) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return -1;
  const Json& id = found->is_array() && found->size() == 1 ? (*found)[0] : *found;
  if (!id.is_number_unsigned() || id > INT32_MAX)
    throw Error(Error::corrupt, "{}: '{}': found {}, expected an id", where, key, found->dump());
  return id.get<int64_t>();
}

// Words of one token each.
void add_bad_words(const Json& json, std::string_view where, std::vector<int64_t>& ids) {
  const auto found = json.find("bad_words_ids");
  if (found == json.end() || found->is_null()) return;
  for (const Json& word : *found) {
    if (!word.is_array() || word.size() != 1 || !word[0].is_number_unsigned() || word[0] > INT32_MAX)
      throw Error(Error::unsupported, "{}: 'bad_words_ids': found {}, expected words of one token", where, word.dump());
    ids.push_back(word[0].get<int64_t>());
  }
}

std::string stopping_of(const Json& json, std::string_view where) {
  const auto found = json.find("early_stopping");
  if (found == json.end() || found->is_null()) return "";
  if (found->is_boolean()) return found->get<bool>() ? "true" : "false";
  if (*found == "never") return "never";
  throw Error(Error::corrupt, "{}: 'early_stopping': found {}, expected true, false or \"never\"", where,
              found->dump());
}

}  // namespace

bool written_by_transformers(std::string_view text, std::string_view where) {
  const Json json = parse_json(text, where);
  const auto has = [&](const char* key) { return json.contains(key); };
  return json.is_object() && (has("transformers_version") || has("_from_model_config") || has("eos_token_id") ||
                              has("pad_token_id") || has("decoder_start_token_id") || has("num_beams"));
}

GenerationConfig from_transformers(std::string_view text, std::string_view where) {
  GenerationConfig config;
  Read read = {config};
  from_foreign_json(text, read, where);
  const Json json = parse_json(text, where);
  refuse_others(json, where);
  if (read.min_length >= 0) config.min_length = std::max<int64_t>(0, read.min_length - 1);
  if (read.max_length > 0) config.max_length = std::max<int64_t>(1, read.max_length - 1);
  if (read.min_new_tokens >= 0) config.min_length = read.min_new_tokens;
  if (read.max_new_tokens > 0) config.max_length = read.max_new_tokens;
  if (config.sample) config.beam_size = 1;
  config.early_stopping = stopping_of(json, where);
  config.first_id = one_id(json, "forced_bos_token_id", where);
  config.last_id = one_id(json, "forced_eos_token_id", where);
  add_bad_words(json, where, config.never);
  return config;
}

}  // namespace fovea
