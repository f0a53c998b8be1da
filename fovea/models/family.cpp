#include "fovea/models/family.h"

#include <algorithm>
#include <set>

namespace fovea {

void check_choice(std::string_view model, std::string_view field, const std::string& found,
                  const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), found) != known.end()) return;
  throw_unknown(fmt::format("value of '{}' of a {}", field, model), found, known);
}

void check_size(std::string_view model, std::string_view field, int64_t found) {
  require(found >= 1, "{}: found a {} of {}, expected at least 1", model, field, found);
}

void check_share(std::string_view model, std::string_view field, double found) {
  require(found >= 0 && found < 1, "{}: found a {} of {}, expected at least 0 and less than 1", model, field, found);
}

void check_labels(std::string_view model, const std::vector<std::string>& labels) {
  require(labels.size() >= 2, "{}: found {} labels, expected at least 2", model, labels.size());
  std::set<std::string> seen;
  for (const std::string& label : labels)
    require(seen.insert(label).second, "{}: found the label '{}' twice, expected each once", model, label);
}

}  // namespace fovea
