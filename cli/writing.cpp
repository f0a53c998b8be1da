#include "cli/writing.h"

#include <fmt/format.h>

#include "cli/answers.h"
#include "fovea/base/text.h"
#include "fovea/models/zoo.h"

namespace fovea {

WritingOptions::WritingOptions(const CommandLine& line, std::string otherwise) : otherwise_(std::move(otherwise)) {
  try {
    generation = read_generation_config(find_model(line.peek("model").value_or(""), otherwise_));
  } catch (const Error&) {
    // It is not found again, and that is told, when the model is loaded; --help works without one.
  }
  models_beam_ = generation.beam_size;
}

void WritingOptions::fields(Fields& f) {
  f("model", model, "the folder of a language model");
  f("weights", weights, weights_help);
  f("stop", stop, "the text ends before this; may be given several times");
  f("max_new_tokens", max_new_tokens, "the same as --max-length");
  f("quiet", quiet, "no notes on stderr");
  generation.writing_fields(f);
}

void WritingOptions::complete(const CommandLine& line) {
  require(!line.has("max_new_tokens") || !line.has("max_length"),
          "--max-new-tokens: found --max-length beside it, expected one of them");
  if (line.has("max_new_tokens")) generation.max_length = max_new_tokens;
  if (generation.sample && generation.beam_size == models_beam_) generation.beam_size = 1;
}

Pretrained WritingOptions::load() const {
  const std::filesystem::path folder = find_model(model, otherwise_);
  LoadOptions options = load_as(weights);
  if (!quiet) options.note = [](const std::string& line) { fmt::print(stderr, "{}\n", printable(line)); };
  read_generation_config(folder, options.note);
  check(generation);
  return load_pretrained(folder, options);
}

}  // namespace fovea
