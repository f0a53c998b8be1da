// What is written of a trained model.
#pragma once

#include "fovea/train/recipe.h"

namespace fovea {

// The model as its users load it: config.json, model.safetensors, tokenizer (if it reads text), recipe.yaml and the card, README.md.
struct TrainedModel {
  Model& model;
  const Tokenizer* tokenizer;  // none if it reads no text
  const Lora* lora =
      nullptr;  // if only additions learned, these are written instead of the model, and what they belong to
  std::string base = {};
};
void save_trained(const std::filesystem::path& folder, Recipe&, const TrainedModel&, const std::vector<Score>& scores);

}  // namespace fovea
