#include "fovea/train/frozen.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "fovea/formats/matrix_text.h"

namespace fovea {
namespace {

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// "3" is in "0-5".
bool names(const std::string& pattern, const std::string& part) {
  if (pattern == part) return true;
  const size_t dash = pattern.find('-');
  if (dash == std::string::npos) return false;
  const auto first = number_in(pattern.substr(0, dash)), last = number_in(pattern.substr(dash + 1)),
             at = number_in(part);
  return first && last && at && *first <= *at && *at <= *last;
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  return std::search(path.begin(), path.end(), pattern.begin(), pattern.end(),
                     [](const std::string& part, const std::string& wanted) { return names(wanted, part); }) !=
         path.end();
}

// The number of the layer that a weight belongs to.
std::optional<int64_t> layer_of(const std::vector<std::string>& path) {
  for (const std::string& part : path)
    if (const auto number = number_in(part)) return number;
  return std::nullopt;
}

}  // namespace

Frozen::Frozen(const std::vector<std::string>& patterns, Model& model) {
  int64_t all = 0;
  for (const std::string& several : patterns) {
    for (const std::string& pattern : split_text(several, ',')) {
      const std::optional<int64_t> layers = number_in(pattern);
      const std::vector<std::string> wanted = split_text(pattern, '.');
      bool found = false, in_layers = false;
      for_each_weight(model, [&](const std::string& path, const Weight& weight, const Init&) {
        const std::vector<std::string> parts = split_text(path, '.');
        const std::optional<int64_t> layer = layer_of(parts);
        in_layers = in_layers || layer;
        if (layers ? (layer ? *layer >= *layers : in_layers) : !matches(wanted, parts)) return;
        found = true;
        if (paths_.insert(path).second) numbers_ += weight.elements();
      });
      require(found && !pattern.empty(),
              "--freeze: found '{}', which is no part of the path of a weight; fovea info lists them", pattern);
    }
  }
  for_each_weight(model, [&](const std::string&, const Weight& weight, const Init&) { all += weight.elements(); });
  require(numbers_ < all, "--freeze: found nothing left that learns, expected some weights that do");
}

}  // namespace fovea
