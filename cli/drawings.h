// Where a verb's pictures go: into files, as SVG, PNG and PDF, whichever were asked for.
//
//   DrawingOptions options;   options.fields(f, "the weights");        // --svg, --png, --pdf
//   Drawings drawings(options);   drawings.write(to_svg(maps));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "fovea/base/file.h"

namespace fovea {

struct DrawingOptions {
  std::string svg, png, pdf;

  void fields(Fields& f, const std::string& what);
  bool wanted() const { return !svg.empty() || !png.empty() || !pdf.empty(); }
};

class Drawings final {
 public:
  // An Error at once if one of them cannot be written or drawn.
  explicit Drawings(const DrawingOptions&);

  bool wanted() const { return !files_.empty(); }
  void write(const std::string& svg);  // once; the files are in their places

 private:
  struct Drawn {
    std::string (*from)(const std::string& svg);
    std::unique_ptr<AtomicFile> file;
  };
  std::vector<Drawn> files_;
};

}  // namespace fovea
