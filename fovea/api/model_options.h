// How a model is found and loaded, for everything that answers in one call.
//
//   fovea::Translator translate("en-de", {.weights = fovea::Precision::int8});
#pragma once

#include <optional>
#include <string>

#include "fovea/base/precision.h"
#include "fovea/version.h"

namespace fovea {

struct ModelOptions {
  std::optional<Precision> weights = {};  // as what they are used; as the folder says, or else f32, if not given
  // Where names are looked up after $FOVEA_ZOO and the program's own ../share/fovea/zoo.
  std::string zoo = FOVEA_INSTALLED_ZOO;
};

}  // namespace fovea
