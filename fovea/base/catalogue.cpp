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
  constexpr size_t most_shown = 12, most_compared = 10'000, longest = 100;
  std::string text = fmt::format("unknown {} '{}{}'", what, name.substr(0, longest), name.size() > longest ? "…" : "");
  size_t least = std::min(1 + name.size() / 3, longest) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : std::span(known).first(std::min(known.size(), most_compared))) {
    if (name.size() > longest || candidate.size() > longest) continue;
    if (const size_t distance = edit_distance(candidate, name); distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  text += nearest ? fmt::format("; did you mean '{}'? known: ", *nearest) : ", expected one of ";
  const auto shown = std::span(known).first(std::min(known.size(), most_shown));
  text += fmt::format("{}", fmt::join(shown, ", "));
  if (known.size() > shown.size()) text += fmt::format(" and {} more", known.size() - shown.size());
  throw Error(Error::not_found, "{}", text);
}

}  // namespace fovea
