// Where a verb's results go: to stdout, each as it comes, or into a file that is written beside its place and renamed.
//
//   Results results(options.output);   results.write("…\n");   results.finish();
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fovea/base/file.h"

namespace fovea {

class Results final {
 public:
  explicit Results(const std::string& path);  // empty: stdout

  void write(std::string_view text);
  void finish();  // without it a file is not there

 private:
  std::optional<AtomicFile> file_;
};

}  // namespace fovea
