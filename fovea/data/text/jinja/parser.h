// A template's tree. A syntax error is a SyntaxFault that names its line.
//
//   Body body = parse("Hello {{ name }}");
#pragma once

#include <string_view>

#include "fovea/data/text/jinja/tree.h"

namespace fovea::jinja {

Body parse(std::string_view source);

}  // namespace fovea::jinja
