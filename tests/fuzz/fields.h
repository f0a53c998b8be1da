// For fuzzers: a configuration with every type of field.
#pragma once

#include "fovea/base/fields.h"

namespace fovea {

struct EveryField {
  bool flag = false;
  int64_t count = 0, threads = 0;
  double number = 0;
  std::string text;
  std::vector<std::string> list;
  bool operator==(const EveryField&) const = default;
  void fields(Fields& f) {
    f("flag", flag, "a switch");
    f("count", count, "a whole number");
    f("threads", threads, "another");
    f("number", number, "a number");
    f("text", text, "a text");
    f("list", list, "texts");
  }
};

// What was read can be written, and is the same when it is read again.
inline void check_round_trip(const EveryField& read) {
  EveryField json, yaml;
  from_json(to_json(read), json, "what to_json wrote");
  from_yaml(to_yaml(read), yaml, "what to_yaml wrote");
  if (json != read || yaml != read) std::abort();
}

}  // namespace fovea
