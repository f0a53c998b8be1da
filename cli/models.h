// The folder that `-m NAME` means: a folder of that name, or else a model that ships.
//
//   const std::filesystem::path folder = find_model(options.model);
//
// The models that ship stand in $FOVEA_ZOO, or in share/fovea/zoo of where the program is installed, or in the source's zoo/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace fovea {

struct ShippedModel {
  std::string name, title;  // the title is that of its card
};
std::vector<ShippedModel> shipped_models();

std::filesystem::path find_model(const std::string& name);  // an Error that lists the models at hand
// What `-m` says, else the model that ships under this name; an Error that tells to give -m if it does not.
std::filesystem::path find_model(const std::string& given, const std::string& shipped);

// The same before the flags are parsed; nothing where that is an Error.
std::optional<std::filesystem::path> peek_model(const CommandLine&, const std::string& shipped);

}  // namespace fovea
