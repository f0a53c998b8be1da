// sentence <TAB> label
#include "fovea/data/datasets/dataset.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

void read_labelled(const std::string& path, Dataset& into) {
  const Reading reading(into, path);
  Lines lines(path);
  for (std::string line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const size_t tab = line.rfind('\t');
    if (tab == std::string::npos) {
      into.add_bad(lines.where() + ": found no tab, expected one between the sentence and its label");
      continue;
    }
    const std::string_view sentence = trim(std::string_view(line).substr(0, tab));
    const std::string_view label = trim(std::string_view(line).substr(tab + 1));
    if (sentence.empty() || label.empty()) {
      into.add_bad(lines.where() + (label.empty() ? ": found no label after the tab" : ": found an empty sentence"));
      continue;
    }
    into.add({.source = std::string(sentence), .label = std::string(label)});
  }
  reading.finish("sentence <TAB> label");
}

}  // namespace fovea
