// `fovea info`: what a model's folder holds.
#include <fmt/format.h>

#include "cli/verb.h"
#include "fovea/explain/model_info.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct InfoOptions {
  static constexpr const char* positional = "model";
  std::string model;
  bool json = false;

  void fields(Fields& f) {
    f("model", model, "the folder of a model, or the name of one that ships");
    f("json", json, "print it as JSON");
  }
};

}  // namespace

extern const Verb info = {.name = "info",
                          .group = "look inside",
                          .help = "what a model's folder holds: architecture, sizes, tokenizer, licence",
                          .examples = "fovea info my-model\nfovea info my-model --json",
                          .run = [](const InfoOptions& o) {
                            require(!o.model.empty(), "fovea info: found no model, expected the folder of one");
                            const ModelInfo found = model_info(find_model(o.model));
                            fmt::print("{}", o.json ? to_json(found) + "\n" : to_text(found));
                          }};

}  // namespace fovea::verbs
