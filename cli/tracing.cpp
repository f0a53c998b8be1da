#include "cli/tracing.h"

#include "fovea/base/file.h"
#include "fovea/explain/trace_file.h"

namespace fovea {

// A pipe is left alone: whoever reads it would see it end.
void require_trace_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (file.empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                       !std::filesystem::is_directory(status)))
    return;
  const AtomicFile could_be_written(file);
}

Trace* Tracing::begin(const std::vector<std::string>& texts, size_t tokens) {
  if (file_.empty()) return nullptr;
  require(texts.size() == 1 && !recorder_ && !done_, "--trace: found several texts, expected one; give it in quotes");
  if (tokens > 0)
    recorder_.emplace(*model_.model, model_.tokenizer.get(), RecordOptions{}, texts[0], tokens);
  else
    recorder_.emplace(*model_.model, *model_.tokenizer, RecordOptions{}, texts[0]);
  return recorder_->trace();
}

void Tracing::finish(const std::string& answer) {
  if (!recorder_) return;
  Recording seen = recorder_->finish(answer);
  name_model(seen, model_);
  write_trace(file_, seen);
  recorder_.reset();
  done_ = true;
}

}  // namespace fovea
