// The folder that a model's name means: a folder of that name, or else a model that ships.
//
//   const Pretrained en_de = load_pretrained(find_model("en-de"));
//
// The models that ship stand in $FOVEA_ZOO, or in ../share/fovea/zoo seen from the program's folder, or where Fovea was
// installed or is built. The last the caller's own compilation knows: a library is linked into programs anywhere.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/version.h"

namespace fovea {

struct ShippedModel {
  std::string name, title;  // the title is that of its card
};
std::vector<ShippedModel> shipped_models(const std::string& installed = FOVEA_INSTALLED_ZOO);

// Also the best/ of a folder that a training left. Without a name the model that ships as `otherwise`. An Error that lists the
// models at hand.
std::filesystem::path find_model(const std::string& name, const std::string& otherwise = "",
                                 const std::string& installed = FOVEA_INSTALLED_ZOO);

}  // namespace fovea
