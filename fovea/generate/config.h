// How output is searched for, listed once: recipes and flags come from it, and generation_config.json under Hugging Face's names.
//
//   GenerationConfig config = read_generation_config("my-model");   config.beam_size = 5;
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

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
  double min_p = 0;
  int64_t seed = 0;
  int64_t min_length = 0, max_length = 256;
  double max_ratio = 0;
  int64_t no_repeat_ngram = 0;
  double repetition_penalty = 1;
  int64_t piece_tokens = 0;
  bool keep_wordless = false;
  double unsure_below = 0;
  int64_t batch_size = 32;
  bool protect = true;

  // What files alone say. Languages as ISO 639 names them; carriers are what the model carries over for words that it does not know:
  // "kind:text", or "kind:text=what comes of it|or this", kinds being text, name, number, amount, date and time (careful_sentence.h).
  std::string source_language = "", target_language = "";
  std::vector<std::string> carriers = {};
  bool protects()
      const;  // whether addresses, codes, numbers and capitals are looked after: in languages that are known here

  // −1, and lists without ids: as the model has it.
  std::vector<int64_t> end_ids = {};    // each of them ends a text
  int64_t start_id = -1;                // is read before the first token of a model with a source
  int64_t first_id = -1, last_id = -1;  // are written first; and last, where max_length ends a text
  std::vector<int64_t> never = {};      // ids that are not written
  std::vector<int64_t> not_first = {};  // nor these as the first
  std::vector<std::vector<int64_t>> never_in_a_row = {};
  // Of a model with a source: layer and head of those that say what each token was made from; none: all heads of the last layer.
  std::vector<std::vector<int64_t>> alignment_heads = {};
  std::string early_stopping = "";  // of beam search: "true", "false" or "never" as Transformers means them
  // Lengths of Hugging Face that count the prompt too, or the start. Each holds as long as the length above is the same number.
  int64_t min_length_with_prompt = 0, max_length_with_prompt = 0;

  // Flags and recipes; of those the ones that a model without a source has, too.
  void fields(Fields& f);
  void writing_fields(Fields& f);
  // generation_config.json, under Hugging Face's names where there are any.
  void file_fields(Fields& f);

  // The fewest and the most tokens that are written after a prompt of so many.
  int64_t min_length_after(int64_t prompt) const;
  int64_t max_length_after(int64_t prompt) const;
};

void check(const GenerationConfig&);  // an Error if the values do not go together

// generation_config.json of a model's folder; the defaults if there is none. In a file that Transformers wrote, keys that are not
// known here are told to `note`; in others they are Errors.
GenerationConfig read_generation_config(const std::filesystem::path& folder,
                                        const std::function<void(const std::string& line)>& note = {});
void write_generation_config(const std::filesystem::path& folder, const GenerationConfig&);

}  // namespace fovea
