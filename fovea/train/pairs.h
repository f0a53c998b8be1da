// Learning from pairs of texts, the second to be generated from the first: translation and summarisation.
//
//   extern const Task translation = {.name = "translation", .help = "…", .recipe = [] { return pairs_recipe({…}); }};
#pragma once

#include "fovea/train/recipe.h"

namespace fovea {

// What is different from task to task.
struct PairsTask {
  std::string_view name;
  std::vector<Score> (*score)(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references);
  std::string source_key, target_key;  // in JSON lines
  int64_t max_tokens = 100;            // tokens; longer examples are left out
  int64_t max_length = 256;            // of what is generated
  int64_t piece_tokens = 0;            // longer sources are read in pieces
};

std::unique_ptr<Recipe> pairs_recipe(const PairsTask&);

}  // namespace fovea
