// Pairs of texts: in two columns of one file, or in two files.
#include "fovea/base/error.h"
#include "fovea/data/datasets/dataset.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

void read_pairs(const std::string& path, Dataset& into) {
  const Reading reading(into, path);
  Lines lines(path);
  for (std::string line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      into.add_bad(lines.where() + ": found 1 column, expected 2 with a tab between");
      continue;
    }
    const std::string_view source = trim(std::string_view(line).substr(0, tab));
    const std::string_view target = trim(std::string_view(line).substr(tab + 1, line.find('\t', tab + 1) - tab - 1));
    if (source.empty() || target.empty()) {
      into.add_bad(fmt::format("{}: found an empty {} column", lines.where(), source.empty() ? "first" : "second"));
      continue;
    }
    into.add({.source = std::string(source), .target = std::string(target)});
  }
  reading.finish("source <TAB> target");
}

void read_parallel(const std::string& source, const std::string& target, Dataset& into) {
  const Reading reading(into, source);
  Lines left(source), right(target);
  std::string a, b;
  for (;;) {
    const bool more_left = left.next(a), more_right = right.next(b);
    if (more_left != more_right) {
      throw Error(Error::invalid, "{}: ends after line {}, but {} goes on; expected as many lines in both",
                  more_left ? target : source, more_left ? right.number() : left.number(), more_left ? source : target);
    }
    if (!more_left) break;
    const std::string_view x = trim(a), y = trim(b);
    if (x.empty() || y.empty()) {
      into.add_bad((x.empty() ? left : right).where() + ": found an empty line, expected a text");
      continue;
    }
    into.add({.source = std::string(x), .target = std::string(y)});
  }
  reading.finish("a text on each line");
}

}  // namespace fovea
