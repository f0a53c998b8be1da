#include "fovea/generate/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/data/text/number_forms.h"
#include "fovea/generate/carriers.h"

namespace fovea {
namespace {

constexpr const char* file_name = "generation_config.json";
constexpr int64_t longest = 1'000'000'000;

struct GenerationFile {
  GenerationConfig& config;
  void fields(Fields& f) { config.file_fields(f); }
};

// An id that may be null.
void optional_id(Fields& f, const char* name, int64_t& id) {
  std::vector<int64_t> ids;
  if (id >= 0) ids = {id};
  if (f.reads() || id >= 0) f.ids(name, ids);
  if (!ids.empty()) id = ids[0];
}

void optional_ids(Fields& f, const char* name, std::vector<int64_t>& ids) {
  if (f.reads() || !ids.empty()) f.ids(name, ids);
}

int64_t without_prompt(int64_t length, int64_t with_prompt, int64_t prompt) {
  return length == with_prompt ? length - std::max<int64_t>(prompt, 1) : length;
}

}  // namespace

void GenerationConfig::writing_fields(Fields& f) {
  f("beam_size", beam_size, "open hypotheses of beam search; 1: greedy");
  f("length_penalty", length_penalty, "a score is the sum of log-probabilities / tokens to this power");
  f("n_best", n_best, "hypotheses returned for each input");
  f("sample", sample, "whether tokens are drawn by their probabilities instead of searched for");
  f("temperature", temperature, "sampling: logits are divided by this");
  f("top_k", top_k, "sampling: only from so many of the most probable tokens; 0: all");
  f("top_p", top_p, "sampling: only from the most probable tokens that together have this probability");
  f("min_p", min_p, "sampling: only from tokens at least so probable, as a share of the most probable one's");
  f("seed", seed, "sampling: of the random numbers");
  f("min_length", min_length, "the fewest tokens, the end not counted");
  f("max_length", max_length, "the most tokens, the end counted");
  f("no_repeat_ngram", no_repeat_ngram, "no sequence of so many tokens occurs twice; 0: any may");
  f("repetition_penalty", repetition_penalty,
    "logits of tokens that occurred are divided by this, multiplied if negative (Keskar et al. 2019)");
}

void GenerationConfig::fields(Fields& f) {
  writing_fields(f);
  f("max_ratio", max_ratio, "the most tokens beyond the first 16, for each of the source's; 0: any number");
  f("piece_tokens", piece_tokens,
    "a text is read sentence by sentence, and a sentence of more tokens in pieces; 0: as a whole");
  f("keep_wordless", keep_wordless, "a text without a letter that the vocabulary knows stays as it is");
  f("unsure_below", unsure_below,
    "outputs whose tokens have a lower mean log-probability are marked as unsure; 0: none are");
  f("protect", protect,
    "whether addresses, codes, emoji, numbers and capitals come through, if the model's languages are known");
  f("batch_size", batch_size, "inputs that are worked on at a time; the output does not depend on it");
}

void GenerationConfig::file_fields(Fields& f) {
  f("num_beams", beam_size, "");
  f("length_penalty", length_penalty, "");
  f("num_return_sequences", n_best, "");
  f("do_sample", sample, "");
  f("temperature", temperature, "");
  f("top_k", top_k, "");
  f("top_p", top_p, "");
  if (f.reads() || min_p > 0) f("min_p", min_p, "");
  f("seed", seed, "");
  const bool with_prompt = max_length_with_prompt > 0 && max_length == max_length_with_prompt;
  if (f.reads() || with_prompt) {
    f("max_length", max_length_with_prompt, "");
    if (max_length_with_prompt > 0) max_length = max_length_with_prompt;
  }
  if (f.reads() || !with_prompt) f("max_new_tokens", max_length, "");
  if (f.reads()) {
    f("min_length", min_length_with_prompt, "");
    min_length = min_length_with_prompt;
  }
  f("min_new_tokens", min_length, "");
  f("max_ratio", max_ratio, "");
  f("no_repeat_ngram_size", no_repeat_ngram, "");
  f("repetition_penalty", repetition_penalty, "");
  f("piece_tokens", piece_tokens, "");
  f("keep_wordless", keep_wordless, "");
  f("unsure_below", unsure_below, "");
  f("batch_size", batch_size, "");
  if (f.reads() || !protect) f("protect", protect, "");
  if (f.reads() || !source_language.empty()) f("source_language", source_language, "");
  if (f.reads() || !target_language.empty()) f("target_language", target_language, "");
  if (f.reads() || !carriers.empty()) f("carriers", carriers, "");
  if (f.reads() || !early_stopping.empty()) f("early_stopping", early_stopping, "");
  optional_ids(f, "eos_token_id", end_ids);
  optional_id(f, "decoder_start_token_id", start_id);
  optional_id(f, "forced_bos_token_id", first_id);
  optional_id(f, "forced_eos_token_id", last_id);
  optional_ids(f, "suppress_tokens", never);
  optional_ids(f, "begin_suppress_tokens", not_first);
  if (f.reads() || !never_in_a_row.empty()) f.id_lists("bad_words_ids", never_in_a_row);
  if (f.reads() || !alignment_heads.empty()) f.id_lists("alignment_heads", alignment_heads);
  f.passed_over({"bos_token_id",          "pad_token_id",   "_from_model_config", "transformers_version",
                 "cache_implementation",  "cache_config",   "use_cache",          "output_attentions",
                 "output_hidden_states",  "output_scores",  "output_logits",      "return_dict_in_generate",
                 "remove_invalid_values", "is_assistant",   "max_time",           "return_legacy_cache",
                 "disable_compile",       "compile_config", "renormalize_logits", "chat_format"});
  f.refused({"penalty_alpha", "dola_layers", "constraints", "force_words_ids", "epsilon_cutoff", "eta_cutoff",
             "sequence_bias", "watermarking_config", "encoder_no_repeat_ngram_size", "diversity_penalty",
             "exponential_decay_length_penalty"});
}

bool GenerationConfig::protects() const {
  return protect && knows_numbers(source_language) && knows_numbers(target_language);
}

int64_t GenerationConfig::min_length_after(int64_t prompt) const {
  return std::max<int64_t>(0, without_prompt(min_length, min_length_with_prompt, prompt));
}

int64_t GenerationConfig::max_length_after(int64_t prompt) const {
  return std::max<int64_t>(1, without_prompt(max_length, max_length_with_prompt, prompt));
}

void check(const GenerationConfig& c) {
  struct Count {
    const char* name;
    int64_t value, most;
  };
  for (const auto& [name, value, most] :
       {Count{"beam_size", c.beam_size, 10000}, {"n_best", c.n_best, 1'000'000}, {"batch_size", c.batch_size, 10000}})
    require(value >= 1 && value <= most, "generation: found {} {}, expected 1 to {}", name, value, most);
  require(c.sample || c.n_best <= c.beam_size,
          "generation: found n_best {} with beam_size {}, expected at most as many", c.n_best, c.beam_size);
  require(!c.sample || c.beam_size == 1, "generation: found beam_size {} with sample, expected 1", c.beam_size);
  require(c.temperature > 0 && c.top_k >= 0 && c.top_p > 0 && c.top_p <= 1,
          "generation: found temperature {}, top_k {} and top_p {}, expected above 0, at least 0, and above 0 up to 1",
          c.temperature, c.top_k, c.top_p);
  require(c.min_p >= 0 && c.min_p <= 1, "generation: found min_p {}, expected 0 to 1", c.min_p);
  require(c.min_length >= 0 && c.max_length >= 1 && c.max_length <= longest,
          "generation: found min_length {} and max_length {}, expected at least 0, and 1 to {}", c.min_length,
          c.max_length, longest);
  require(c.piece_tokens >= 0, "generation: found piece_tokens {}, expected 0 or more", c.piece_tokens);
  require(c.unsure_below <= 0, "generation: found unsure_below {}, expected a log-probability: below 0, or 0 for none",
          c.unsure_below);
  require(c.max_ratio >= 0 && c.max_ratio <= 1000, "generation: found max_ratio {}, expected 0 to 1000", c.max_ratio);
  require(c.no_repeat_ngram >= 0 && c.repetition_penalty > 0,
          "generation: found no_repeat_ngram {} and repetition_penalty {}, expected at least 0, and above 0",
          c.no_repeat_ngram, c.repetition_penalty);
  parse_carriers(c.carriers);
  for (const auto& head : c.alignment_heads)
    require(head.size() == 2 && head[0] >= 0 && head[1] >= 0,
            "generation: found alignment_heads with [{}], expected pairs of a layer and a head", fmt::join(head, ", "));
  require(c.early_stopping.empty() || c.early_stopping == "true" || c.early_stopping == "false" ||
              c.early_stopping == "never",
          "generation: found early_stopping \"{}\", expected true, false or \"never\"", c.early_stopping);
}

GenerationConfig read_generation_config(const std::filesystem::path& folder,
                                        const std::function<void(const std::string& line)>& note) {
  GenerationConfig config;
  if (!is_folder(folder)) return config;
  const std::filesystem::path own = folder / file_name, old = folder / "config.json";
  const bool has_own = path_exists(own);  // before that file there was, it stood among the model's own keys
  if (!has_own && !path_exists(old)) return config;
  const std::filesystem::path& path = has_own ? own : old;
  auto json = parse_json(read_text(path), path.string());
  const bool foreign = json.is_object() && (json.contains("transformers_version") || json.contains("architectures"));
  if (!has_own && !foreign) return config;
  if (json.is_object() && json.contains("early_stopping") && json["early_stopping"].is_boolean())
    json["early_stopping"] = json["early_stopping"] == true ? "true" : "false";
  if (foreign) config.top_k = 50;  // what Transformers takes where a file says nothing; 0 is what it writes for all
  GenerationFile file = {config};
  const std::vector<std::string> unknown = from_foreign_json(json.dump(), file, path.string());
  if (!unknown.empty() && !foreign) from_json(json.dump(), file, path.string());
  if (json.contains("max_new_tokens")) config.max_length_with_prompt = 0;
  if (json.contains("min_new_tokens")) config.min_length_with_prompt = 0;
  if (!unknown.empty() && has_own && note)
    note(fmt::format("{}: keys that are not known here are passed over: {}", path.string(), fmt::join(unknown, ", ")));
  if (foreign && config.sample) config.beam_size = 1;
  check(config);
  return config;
}

void write_generation_config(const std::filesystem::path& folder, const GenerationConfig& config) {
  check(config);
  GenerationConfig copy = config;
  write_text(folder / file_name, to_json(GenerationFile{copy}));
}

}  // namespace fovea
