// A model whose weights stay in their file: its shape, and where each of its weights is stored.
//
//   const OpenModel open = open_model("my-model");
//   Tensor w = open.stored->numbers(open.names.at("model.norm.weight"));
#pragma once

#include "fovea/models/pretrained.h"
#include "fovea/models/stored_weights.h"

namespace fovea {

struct OpenModel {
  std::unique_ptr<StoredWeights> stored;
  std::unique_ptr<Model> model;              // only shapes
  std::map<std::string, std::string> names;  // the file's, by the paths of the weights
};

// What load_model() checks of a folder but for the numbers.
OpenModel open_model(const std::filesystem::path& folder, const LoadOptions& = {});

}  // namespace fovea
