// The picture that --svg asks for: a panel for each text, few enough to be looked at.
//
//   Panels panels(options.svg);   panels.expect(texts.size());   panels.add(map);   panels.finish();
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/explain/heat_map.h"

namespace fovea {

class Panels final {
 public:
  static constexpr size_t most = 16;
  explicit Panels(const std::string& path);  // empty: no picture. An Error at once if the file cannot be written.

  void expect(size_t more);  // an Error if these are too many
  void add(HeatMap map);     // one without cells is passed over
  void finish();

 private:
  std::optional<AtomicFile> file_;
  std::vector<HeatMap> maps_;
  size_t expected_ = 0;
};

}  // namespace fovea
