// The tests behind `is`.
//
//   apply_test(budget, "divisibleby", value, arguments)
#pragma once

#include <string_view>

#include "fovea/data/text/jinja/arguments.h"

namespace fovea::jinja {

bool apply_test(Budget& budget, std::string_view name, const Value& value, const Arguments& arguments);

}  // namespace fovea::jinja
