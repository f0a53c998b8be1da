// A form of attention: how a query and a key become a score. One file each in forms/.
#pragma once

#include <span>
#include <string_view>

#include "fovea/base/catalogue.h"

namespace fovea {

struct Form {
  static constexpr std::string_view noun = "form of attention";
  std::string_view name;
  std::string_view formula;
};

}  // namespace fovea
