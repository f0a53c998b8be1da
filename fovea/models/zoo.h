// The folder that a model's name means: a folder of that name, or else a model that ships.
//
//   const Pretrained en_de = load_pretrained(find_model("en-de"));
//
// The models that ship stand in $FOVEA_ZOO, or in share/fovea/zoo beside the program's own folder, or where Fovea was built.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fovea {

struct ShippedModel {
  std::string name, title;  // the title is that of its card
};
std::vector<ShippedModel> shipped_models();

// Also the best/ of a folder that a training left. An Error that lists the models at hand.
std::filesystem::path find_model(const std::string& name);

// The model of that name or, if it is empty, the one that ships as `otherwise`.
std::filesystem::path find_model(const std::string& name, const std::string& otherwise);

}  // namespace fovea
