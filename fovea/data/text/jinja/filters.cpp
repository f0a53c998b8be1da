#include "fovea/data/text/jinja/filters.h"

#include <algorithm>

namespace fovea::jinja {
namespace {

const Filter* find_filter(std::string_view name) {
  for (std::span<const Filter> filters : {text_filters(), list_filters()}) {
    const auto found = std::find_if(filters.begin(), filters.end(), [&](const Filter& f) { return f.name == name; });
    if (found != filters.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

bool has_filter(std::string_view name) { return find_filter(name) != nullptr; }

Value apply_filter(Budget& budget, std::string_view name, const Value& value, const Arguments& arguments) {
  const Filter* filter = find_filter(name);
  if (!filter) throw Fault(Error::unsupported, "found the filter '{}', which chat templates do not have", name);
  budget.steps(1);
  return filter->run(budget, value, arguments);
}

}  // namespace fovea::jinja
