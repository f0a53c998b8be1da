// What a filter, a test, a method or a function is called with, and how it finds its parameters: by place or by name.
//
//   const Bound b(arguments, "replace", {"old", "new", "count"});     // a Fault for too many, or for another name
//   b.text(0), b.text(1), b.whole(2, -1)
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/data/text/jinja/value.h"

namespace fovea::jinja {

struct Arguments {
  std::vector<Value> list;
  std::vector<std::pair<std::string, Value>> named;
};

class Bound final {
 public:
  Bound(const Arguments& arguments, std::string_view who, std::initializer_list<std::string_view> names);

  // Given and not None, which stands for the default.
  bool has(size_t i) const { return given_[i] && !given_[i]->is_none(); }
  const Value* pointer(size_t i) const { return given_[i]; }
  const Value& value(size_t i) const;  // a Fault if it is missing
  Value value(size_t i, Value otherwise) const { return given_[i] ? *given_[i] : otherwise; }
  const std::string& text(size_t i) const;
  std::string text(size_t i, std::string_view otherwise) const { return has(i) ? text(i) : std::string(otherwise); }
  int64_t whole(size_t i) const;
  int64_t whole(size_t i, int64_t otherwise) const { return has(i) ? whole(i) : otherwise; }
  bool flag(size_t i, bool otherwise) const { return given_[i] ? truth(*given_[i]) : otherwise; }

 private:
  std::string_view who_;
  std::vector<std::string_view> names_;
  std::vector<const Value*> given_;
};

}  // namespace fovea::jinja
