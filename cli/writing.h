// What the verbs have in common that let a language model write: `fovea generate` and `fovea chat`.
//
//   WritingOptions options(line);   GenerationConfig config = options.complete_config();
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "fovea/generate/config.h"
#include "fovea/models/pretrained.h"

namespace fovea {

struct WritingOptions {
  std::string model, weights;
  std::vector<std::string> stop;
  int64_t max_new_tokens = 0;
  bool quiet = false;
  GenerationConfig generation;

  // The search's defaults are those of the model that is asked for, or of the one that ships as `otherwise`.
  explicit WritingOptions(const CommandLine& line, std::string otherwise = "");
  void fields(Fields& f);
  void complete(const CommandLine& line);
  Pretrained load() const;  // with notes about what is passed over on stderr

 private:
  std::string otherwise_;
  int64_t models_beam_ = 1;
};

}  // namespace fovea
