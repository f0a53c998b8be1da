// Python's operators on values.
//
//   arithmetic(budget, "+", a, b);   compare(budget, "not in", a, b);   slice(budget, text, {}, Value(int64_t{-2}), {})
#pragma once

#include <string_view>

#include "fovea/data/text/jinja/value.h"

namespace fovea::jinja {

Value arithmetic(Budget& budget, std::string_view symbol, const Value& a, const Value& b);
Value negate(const Value& value);
bool compare(Budget& budget, std::string_view symbol, const Value& a, const Value& b);  // == != < <= > >= in, not in
bool contains(Budget& budget, const Value& container, const Value& item);

// An item by its index or key: undefined if there is none; a Fault if the value itself is undefined.
Value item(Budget& budget, const Value& value, const Value& key);
// Bounds that are None or undefined in C++'s sense (nullptr) are the ends.
Value slice(Budget& budget, const Value& value, const Value* begin, const Value* end, const Value* step);

[[noreturn]] void fail_undefined(const Value& value);

}  // namespace fovea::jinja
