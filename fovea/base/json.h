// JSON from outside, parsed in one place: whole, UTF-8, and not so deep that destroying it overflows the stack.
//
//   nlohmann::json config = parse_json(read_text(path), path);           // or an Error of kind corrupt that names `where`
//   auto in_order = parse_json<nlohmann::ordered_json>(text, where);     // keys as the text has them; for small objects
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace fovea {

// More than 100 levels, and anything but white space behind the value (a NUL too), are Errors.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, std::string_view where);

}  // namespace fovea
