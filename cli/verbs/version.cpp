#include <fmt/core.h>

#include "cli/verb.h"

namespace fovea {

extern const Verb version = {
    .name = "version", .help = "the version of this program", .run = [](const std::vector<std::string>&) {
      fmt::print("fovea {}\n", FOVEA_VERSION);
      return 0;
    }};

}  // namespace fovea
