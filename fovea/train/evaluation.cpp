#include "fovea/train/evaluation.h"

#include "fovea/data/text/lines.h"

namespace fovea {

std::string LineFile::line(size_t i) const { return fmt::format("{}:{}", name, i + 1); }

LineFile read_lines(const std::string& path) {
  LineFile file = {path == "-" ? "stdin" : path, {}};
  Lines lines(path);
  for (std::string line; lines.next(line);) file.lines.push_back(line);
  require(!file.lines.empty(), "{}: found no lines, expected some", file.name);
  return file;
}

const LineFile& Outputs::reference() const {
  require(references.size() == 1, "--references: found {} files, expected one for this task", references.size());
  return references[0];
}

void Outputs::require_same_lines() const {
  for (const LineFile& file : references)
    require(file.lines.size() == hypotheses.lines.size(), "{}: found {} lines, expected {} as in {}", hypotheses.name,
            hypotheses.lines.size(), file.lines.size(), file.name);
}

}  // namespace fovea
