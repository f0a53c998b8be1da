#include "cli/panels.h"

#include "fovea/base/error.h"

namespace fovea {

Panels::Panels(const std::string& path) {
  if (!path.empty()) file_.emplace(path);
}

void Panels::expect(size_t more) {
  expected_ += more;
  require(!file_ || expected_ <= most, "--svg: found more than {} texts, expected at most as many", most);
}

void Panels::add(HeatMap map) {
  if (file_ && !map.values.empty()) maps_.push_back(std::move(map));
}

void Panels::finish() {
  if (!file_) return;
  file_->write(to_svg(maps_));
  file_->commit();
}

}  // namespace fovea
