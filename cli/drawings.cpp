#include "cli/drawings.h"

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "fovea/explain/drawing.h"

namespace fovea {

void DrawingOptions::fields(Fields& f, const std::string& what) {
  f("svg", svg, fmt::format("draw {} into this file, as SVG", what).c_str());
  f("png", png, "the same as PNG, twice as large");
  f("pdf", pdf, "the same as PDF, one page of its size");
}

Drawings::Drawings(const DrawingOptions& o) {
  const auto add = [&](const std::string& path, std::string (*from)(const std::string&)) {
    if (path.empty()) return;
    files_.push_back({from, std::make_unique<AtomicFile>(path)});
    remove_at_interrupt(files_.back().file->part());
  };
  if (!o.png.empty() || !o.pdf.empty()) require_renderer();
  add(o.svg, [](const std::string& svg) { return svg; });
  add(o.png, to_png);
  add(o.pdf, to_pdf);
}

void Drawings::write(const std::string& svg) {
  for (const Drawn& drawn : files_) drawn.file->write(drawn.from(svg)), drawn.file->commit();
}

}  // namespace fovea
