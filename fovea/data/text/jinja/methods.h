// The methods of Python's str, dict, list and tuple that templates call. Those that would change a list or a dict are known and
// refused, as in Jinja2's immutable sandbox.
//
//   if (has_method(value, "split")) call_method(budget, value, "split", arguments);
#pragma once

#include <string_view>

#include "fovea/data/text/jinja/arguments.h"

namespace fovea::jinja {

bool has_method(const Value& self, std::string_view name);
Value call_method(Budget& budget, const Value& self, std::string_view name, const Arguments& arguments);

}  // namespace fovea::jinja
