// --trace FILE of every verb that runs a model: what the model saw while it answered one text, as explain/trace_file.h writes it.
//
//   Tracing tracing(options.trace, model);
//   const auto found = classify(labeller, tokenizer, some, {.trace = tracing.begin(some)});
//   if (Recorder* r = tracing.recorder()) r->classified(found[0]);
//   tracing.finish(answer);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/recording.h"
#include "fovea/models/pretrained.h"

namespace fovea {

inline constexpr const char* trace_help =
    "write what the model saw into this file, of one text: safetensors with its words and all weights";

// An Error if no file can be written there: said before a model has worked for it. An empty name is no file.
void require_trace_file(const std::string& file);

class Tracing final {
 public:
  Tracing(std::string file, const Pretrained& model) : file_(std::move(file)), model_(model) {
    require_trace_file(file_);
  }

  // The trace for these texts, or for pictures of so many tokens; nullptr without a file. An Error if there are several, or were
  // some before.
  Trace* begin(const std::vector<std::string>& texts, size_t tokens = 0);
  Recorder* recorder() { return recorder_ ? &*recorder_ : nullptr; }
  void finish(const std::string& answer);  // writes the file, if there is one

 private:
  std::string file_;
  const Pretrained& model_;
  std::optional<Recorder> recorder_;
  bool done_ = false;
};

}  // namespace fovea
