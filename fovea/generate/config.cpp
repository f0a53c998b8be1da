#include "fovea/generate/config.h"

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/generate/transformers_config.h"

namespace fovea {
namespace {

constexpr const char* file_name = "generation_config.json";

}  // namespace

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
  constexpr int64_t longest = 1'000'000'000;
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
  if (!c.early_stopping.empty() && c.early_stopping != "true" && c.early_stopping != "false" &&
      c.early_stopping != "never")
    throw_unknown("early_stopping", c.early_stopping, {"true", "false", "never"});
}

GenerationConfig read_generation_config(const std::filesystem::path& folder) {
  GenerationConfig config;
  const std::filesystem::path path = folder / file_name, old = folder / "config.json";
  if (path_exists(path)) {
    const std::string text = read_text(path), where = path.string();
    if (written_by_transformers(text, where))
      config = from_transformers(text, where);
    else
      from_json(text, config, where);
  } else if (path_exists(old)) {
    config = from_transformers(read_text(old), old.string());
  }
  check(config);
  return config;
}

void write_generation_config(const std::filesystem::path& folder, const GenerationConfig& config) {
  check(config);
  write_text(folder / file_name, to_json(config));
}

}  // namespace fovea
