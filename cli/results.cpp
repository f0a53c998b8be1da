#include "cli/results.h"

#include <cstdio>

#include "cli/interrupt.h"
#include "fovea/base/error.h"

namespace fovea {

Results::Results(const std::string& path) {
  if (path.empty()) return;
  file_.emplace(path);
  remove_at_interrupt(file_->part());
}

void Results::write(std::string_view text) {
  if (file_) return file_->write(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0) throw Error(Error::io, "stdout: cannot be written to");
}

void Results::finish() {
  if (file_) file_->commit();
}

}  // namespace fovea
