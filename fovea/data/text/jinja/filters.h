// The filters behind |: those of Jinja2 that chat templates use, and tojson as they have it (without escapes for HTML).
//
//   apply_filter(budget, "join", list, {.list = {Value(", ")}})
#pragma once

#include <span>
#include <string_view>

#include "fovea/data/text/jinja/arguments.h"

namespace fovea::jinja {

bool has_filter(std::string_view name);
Value apply_filter(Budget& budget, std::string_view name, const Value& value, const Arguments& arguments);

struct Filter {
  std::string_view name;
  Value (*run)(Budget&, const Value&, const Arguments&);
};
std::span<const Filter> text_filters();  // that give a text or a number
std::span<const Filter> list_filters();  // that take or give a list

}  // namespace fovea::jinja
