// Values as text: what {{ }} prints (Python's str), how lists show their items (repr), and tojson (json.dumps).
//
//   print(budget, make_list({Value("a"), Value(1.0)}))        // ['a', 1.0]
//   to_json(budget, tools, {.indent = "    "})
#pragma once

#include <optional>
#include <string>

#include "fovea/data/text/jinja/value.h"

namespace fovea::jinja {

struct JsonOptions {
  std::optional<std::string> indent;
  std::optional<std::string> item_separator;  // ", ", or "," with an indent
  std::string key_separator = ": ";
  bool ensure_ascii = false, sort_keys = false;
};

std::string print(Budget& budget, const Value& value);
std::string repr(Budget& budget, const Value& value);
std::string to_json(Budget& budget, const Value& value, const JsonOptions& options);
// Python's `pattern % value` for %s, %r, %d, %i, %f, %x and %%, with flags, width and precision.
std::string percent_format(Budget& budget, const std::string& pattern, const Value& value);

}  // namespace fovea::jinja
