// What is written of a trained model.
#pragma once

#include "fovea/train/recipe.h"

namespace fovea {

// The model as its users load it: config.json, model.safetensors, tokenizer, recipe.yaml and the card, README.md.
void save_trained(const std::filesystem::path& folder, Recipe&, Model&, const Tokenizer&,
                  const std::vector<Score>& scores);

}  // namespace fovea
