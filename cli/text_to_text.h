// Text to text, as `fovea translate` and `fovea summarize` do it: one call with two names.
//
//   run_text_to_text(find_model(options.model), options);
#pragma once

#include <filesystem>
#include <string>

#include "cli/answers.h"
#include "fovea/generate/config.h"

namespace fovea {

struct TextToTextOptions : AnswerOptions {
  static constexpr BareFlag bare = {"alignment", "hard", "soft"};
  std::string prefix, task, alignment, target_language;
  GenerationConfig generation;

  // The search's defaults are those of the model that is asked for.
  TextToTextOptions(const CommandLine& line, const std::string& shipped_model);
  void fields(Fields& f);
  void complete(const CommandLine& line);  // who samples does not have to take back the model's beam

 private:
  int64_t models_beam_ = 1;
};

void run_text_to_text(const std::filesystem::path& folder, const TextToTextOptions&);

}  // namespace fovea
