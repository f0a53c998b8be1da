// A verb that is added from outside.
#include <fmt/format.h>

#include "cli/verb.h"

namespace fovea::verbs {
namespace {

struct GreetOptions {
  static constexpr const char* positional = "name";
  std::string name = "world";

  void fields(Fields& f) { f("name", name, "whom to greet"); }
};

}  // namespace

extern const Verb greet = {.name = "greet",
                           .group = "use",
                           .help = "a greeting",
                           .examples = "fovea greet Ada",
                           .run = [](const GreetOptions& o) { fmt::print("Hello, {}!\n", o.name); }};

}  // namespace fovea::verbs
