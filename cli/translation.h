// Text to text, as `fovea translate` and `fovea summarize` do it: one call with two names.
//
//   run_translation(find_model(options.model), options);
#pragma once

#include <filesystem>
#include <string>

#include "cli/command_line.h"
#include "cli/texts.h"
#include "fovea/generate/config.h"

namespace fovea {

struct TranslationOptions {
  static constexpr const char* positional = "text";
  static constexpr BareFlag bare = {"alignment", "hard", "soft"};
  std::string model, output, prefix, alignment, svg;
  bool json = false, show = false, quiet = false;
  TextOptions texts;
  GenerationConfig generation;

  // The search's defaults are those of the model that is asked for.
  TranslationOptions(const CommandLine& line, const std::string& shipped_model);
  void fields(Fields& f);
};

void run_translation(const std::filesystem::path& folder, const TranslationOptions&);

}  // namespace fovea
