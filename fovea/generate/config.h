// How output is searched for, listed once: generation_config.json, recipes and flags come from it.
//
//   GenerationConfig config = read_generation_config("my-model");   config.beam_size = 5;
#pragma once

#include <filesystem>

#include "fovea/base/fields.h"

namespace fovea {

struct GenerationConfig {
  int64_t beam_size = 1;
  double length_penalty = 1;
  int64_t n_best = 1;
  bool sample = false;
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1;
  int64_t seed = 0;
  int64_t min_length = 0, max_length = 256;
  double max_ratio = 0;
  int64_t no_repeat_ngram = 0;
  double repetition_penalty = 1;
  int64_t piece_tokens = 0;
  bool keep_wordless = false;
  double unsure_below = 0;
  int64_t batch_size = 32;

  // What files alone say. −1, and lists without ids: none.
  int64_t first_id = -1, last_id = -1;  // are written first; and last, where max_length ends a text; they count nothing
  std::vector<int64_t> never = {};      // ids that are not written
  std::string early_stopping = "";  // of beam search: "true", "false" or "never" as Transformers means them; "": ours

  void fields(Fields& f) {
    f("beam_size", beam_size, "open hypotheses of beam search; 1: greedy");
    f("length_penalty", length_penalty, "a score is the sum of log-probabilities / tokens to this power");
    f("n_best", n_best, "hypotheses returned for each input");
    f("sample", sample, "whether tokens are drawn by their probabilities instead of searched for");
    f("temperature", temperature, "sampling: logits are divided by this");
    f("top_k", top_k, "sampling: only from so many of the most probable tokens; 0: all");
    f("top_p", top_p, "sampling: only from the most probable tokens that together have this probability");
    f("seed", seed, "sampling: of the random numbers");
    f("min_length", min_length, "the fewest tokens, the end not counted");
    f("max_length", max_length, "the most tokens, the end counted");
    f("max_ratio", max_ratio, "the most tokens beyond the first 16, for each of the source's; 0: any number");
    f("no_repeat_ngram", no_repeat_ngram, "no sequence of so many tokens occurs twice; 0: any may");
    f("repetition_penalty", repetition_penalty,
      "logits of tokens that occurred are divided by this, multiplied if negative (Keskar et al. 2019)");
    f("piece_tokens", piece_tokens,
      "a text is read sentence by sentence, and a sentence of more tokens in pieces; 0: as a whole");
    f("keep_wordless", keep_wordless, "a text without a letter that the vocabulary knows stays as it is");
    f("unsure_below", unsure_below,
      "outputs whose tokens have a lower mean log-probability are marked as unsure; 0: none are");
    f("batch_size", batch_size, "inputs that are worked on at a time; the output does not depend on it");
  }
};

void check(const GenerationConfig&);  // an Error if the values do not go together

// generation_config.json of a model's folder, ours or as Transformers writes it; the defaults if there is none, with what an old
// config.json of others says.
GenerationConfig read_generation_config(const std::filesystem::path& folder);
void write_generation_config(const std::filesystem::path& folder, const GenerationConfig&);

}  // namespace fovea
