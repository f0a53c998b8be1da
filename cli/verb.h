// A verb of the `fovea` program: one file each in verbs/, one constant each, flags from a list of fields.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/catalogue.h"

namespace fovea {

struct Verb {
  static constexpr std::string_view noun = "verb";
  std::string_view name;
  std::string_view help;
  int (*run)(const std::vector<std::string>& arguments);
};

}  // namespace fovea
