#include "fovea/base/catalogue.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace fovea {
namespace {

// Levenshtein's distance: the least number of inserted, deleted and replaced characters.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

void throw_unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  std::string hint;
  auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(a, name) < edit_distance(b, name);
  });
  if (nearest != known.end() && edit_distance(*nearest, name) <= 1 + name.size() / 3) {
    hint = fmt::format("; did you mean '{}'?", *nearest);
  }
  throw Error(Error::not_found, "unknown {} '{}', expected one of {}{}", what, name, fmt::join(known, ", "), hint);
}

}  // namespace fovea
