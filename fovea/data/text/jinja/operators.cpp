#include "fovea/data/text/jinja/operators.h"

#include <algorithm>
#include <cmath>

#include "fovea/data/text/jinja/printing.h"
#include "fovea/data/text/jinja/python_text.h"

namespace fovea::jinja {
namespace {

[[noreturn]] void fail_types(std::string_view symbol, const Value& a, const Value& b) {
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  throw Fault(Error::invalid, "found '{}' {} '{}', which have no such operation", type_name(a), symbol, type_name(b));
}

[[noreturn]] void fail_overflow() { throw Fault(Error::unsupported, "found an int beyond 64 bits"); }

void check_divisor(bool zero) {
  if (zero) throw Fault(Error::invalid, "found a division by zero");
}

// Towards minus infinity, as Python divides.
int64_t floor_divide(int64_t a, int64_t b) {
  check_divisor(b == 0);
  if (b == -1 && a == std::numeric_limits<int64_t>::min()) fail_overflow();
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

Value integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    check_divisor(base == 0);
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  if (base == 0 || base == 1) return exponent == 0 ? int64_t{1} : base;
  if (base == -1) return exponent % 2 == 0 ? int64_t{1} : int64_t{-1};
  int64_t result = 1;
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(result, base, &result)) fail_overflow();
  return result;
}

Value whole_arithmetic(std::string_view symbol, int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflows = (symbol == "+" && __builtin_add_overflow(a, b, &result)) ||
                         (symbol == "-" && __builtin_sub_overflow(a, b, &result)) ||
                         (symbol == "*" && __builtin_mul_overflow(a, b, &result));
  if (overflows) fail_overflow();
  if (symbol == "+" || symbol == "-" || symbol == "*") return result;
  if (symbol == "//") return floor_divide(a, b);
  if (symbol == "%") {
    check_divisor(b == 0);
    return b == -1 ? int64_t{0} : a - floor_divide(a, b) * b;
  }
  if (symbol == "**") return integer_power(a, b);
  check_divisor(b == 0);
  return static_cast<double>(a) / static_cast<double>(b);
}

Value real_arithmetic(std::string_view symbol, double a, double b) {
  if (symbol == "+") return a + b;
  if (symbol == "-") return a - b;
  if (symbol == "*") return a * b;
  if (symbol == "**") return std::pow(a, b);
  check_divisor(b == 0);
  if (symbol == "/") return a / b;
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return symbol == "%" ? rest : std::round((a - rest) / b);
}

Value repeated(Budget& budget, const Value& value, int64_t times) {
  const auto count = static_cast<uint64_t>(std::max<int64_t>(times, 0));
  uint64_t size = value.text() ? value.text()->size() : value.items().size();
  if (__builtin_mul_overflow(size, count, &size)) size = std::numeric_limits<uint64_t>::max();
  if (size == 0) return value.text() ? Value("") : make_list({}, value.sequence()->kind);
  if (const std::string* text = value.text()) {
    budget.bytes(size);
    std::string result;
    result.reserve(size);
    for (uint64_t i = 0; i < count; ++i) result += *text;
    return result;
  }
  budget.items(size);
  std::vector<Value> items;
  for (uint64_t i = 0; i < count; ++i) items.insert(items.end(), value.items().begin(), value.items().end());
  return make_list(std::move(items), value.sequence()->kind);
}

Value joined(Budget& budget, const Value& a, const Value& b) {
  if (a.text()) {
    budget.bytes(a.text()->size() + b.text()->size());
    return *a.text() + *b.text();
  }
  std::vector<Value> items = iterate(budget, a);
  budget.items(b.items().size());
  items.insert(items.end(), b.items().begin(), b.items().end());
  return make_list(std::move(items), a.sequence()->kind);
}

bool is_list_or_tuple(const Value& v) { return v.sequence() && v.sequence()->kind <= Sequence::tuple; }

// The indices that a slice of `size` items has: the first, the step and how many.
struct Indices {
  int64_t first = 0, step = 1, count = 0;
};

int64_t bound_of(const Value* value, int64_t otherwise) {
  if (!value || value->is_none()) return otherwise;
  if (!value->is_whole()) throw Fault(Error::invalid, "slice: found '{}', expected an int", type_name(*value));
  return value->whole();
}

Indices indices(int64_t size, const Value* begin, const Value* end, const Value* step_value) {
  const int64_t step = bound_of(step_value, 1);
  if (step == 0) throw Fault(Error::invalid, "slice: found a step of 0");
  const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? size - 1 : size;
  const auto place = [&](const Value* bound, int64_t otherwise) {
    if (!bound || bound->is_none()) return otherwise;
    const int64_t at = bound_of(bound, 0);
    return std::clamp(at < 0 ? std::max(at, -size - 1) + size : at, lowest, highest);
  };
  const int64_t first = place(begin, step < 0 ? highest : lowest), last = place(end, step < 0 ? lowest : highest);
  const int64_t distance = step < 0 ? first - last : last - first;
  if (distance <= 0) return {first, step, 0};
  const uint64_t stride = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  return {first, step, static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1};
}

}  // namespace

void fail_undefined(const Value& value) {
  const Undefined* u = value.undefined();
  throw Fault(Error::invalid, "{}", u && u->why ? *u->why : "found a value that is undefined");
}

Value arithmetic(Budget& budget, std::string_view symbol, const Value& a, const Value& b) {
  if (a.is_whole() && b.is_whole()) return whole_arithmetic(symbol, a.whole(), b.whole());
  if (a.is_number() && b.is_number()) return real_arithmetic(symbol, a.number(), b.number());
  if (symbol == "+" && a.text() && b.text()) return joined(budget, a, b);
  if (symbol == "+" && is_list_or_tuple(a) && is_list_or_tuple(b) && a.sequence()->kind == b.sequence()->kind)
    return joined(budget, a, b);
  if (symbol == "*" && (a.text() || is_list_or_tuple(a)) && b.is_whole()) return repeated(budget, a, b.whole());
  if (symbol == "*" && (b.text() || is_list_or_tuple(b)) && a.is_whole()) return repeated(budget, b, a.whole());
  if (symbol == "%" && a.text() && !b.is_undefined()) return percent_format(budget, *a.text(), b);
  fail_types(symbol, a, b);
}

Value negate(const Value& value) {
  if (value.is_whole()) return whole_arithmetic("-", 0, value.whole());
  if (value.real()) return -*value.real();
  if (value.is_undefined()) fail_undefined(value);
  throw Fault(Error::invalid, "found -'{}', expected a number", type_name(value));
}

bool contains(Budget& budget, const Value& container, const Value& item) {
  if (container.is_undefined()) return false;
  if (container.mapping()) return find(budget, *container.mapping(), item) != nullptr;
  if (container.text()) {
    if (!item.text()) throw Fault(Error::invalid, "found '{}' in a str, expected a str", type_name(item));
    budget.search(container.text()->size(), item.text()->size());
    return container.text()->find(*item.text()) != std::string::npos;
  }
  if (!container.sequence())
    throw Fault(Error::invalid, "found 'in' of '{}', which holds nothing", type_name(container));
  return std::any_of(container.items().begin(), container.items().end(),
                     [&](const Value& other) { return equal(budget, other, item); });
}

bool compare(Budget& budget, std::string_view symbol, const Value& a, const Value& b) {
  if (symbol == "==") return equal(budget, a, b);
  if (symbol == "!=") return !equal(budget, a, b);
  if (symbol == "in") return contains(budget, b, a);
  if (symbol == "not in") return !contains(budget, b, a);
  if (symbol == "<") return less(budget, a, b);
  if (symbol == ">") return less(budget, b, a);
  const bool first = symbol == "<=" ? less(budget, a, b) : less(budget, b, a);
  return first || equal(budget, a, b);
}

Value item(Budget& budget, const Value& value, const Value& key) {
  if (value.is_undefined()) fail_undefined(value);
  if (const Mapping* mapping = value.mapping()) {
    if (const Value* found = find(budget, *mapping, key)) return *found;
    return undefined(fmt::format("found no key {} in a dict", repr(budget, key)));
  }
  if (key.is_whole() && (value.sequence() || value.text())) {
    if (value.text()) budget.bytes(value.text()->size());
    const int64_t size = length(value), at = key.whole() < 0 ? key.whole() + size : key.whole();
    if (at < 0 || at >= size)
      return undefined(
          fmt::format("found {} as an index, expected one within a {} of {}", key.whole(), type_name(value), size));
    if (value.sequence()) return value.items()[static_cast<size_t>(at)];
    const std::string_view rest = std::string_view(*value.text()).substr(byte_of_character(*value.text(), at));
    return rest.substr(0, byte_of_character(rest, 1));
  }
  return undefined(fmt::format("found no {} in a value of type '{}'", repr(budget, key), type_name(value)));
}

Value slice(Budget& budget, const Value& value, const Value* begin, const Value* end, const Value* step) {
  if (value.is_undefined()) fail_undefined(value);
  if (!value.sequence() && !value.text()) throw Fault(Error::invalid, "found a slice of '{}'", type_name(value));
  const Indices at = indices(length(value), begin, end, step);
  if (const std::string* text = value.text()) {
    budget.bytes(text->size() + 1);
    if (at.step == 1) {
      const size_t first = byte_of_character(*text, at.first);
      const std::string_view rest = std::string_view(*text).substr(first);
      return rest.substr(0, byte_of_character(rest, at.count));
    }
    budget.items(text->size());
    const std::vector<std::string_view> all = characters(*text);
    std::string result;
    for (int64_t i = 0; i < at.count; ++i) result += all[static_cast<size_t>(at.first + i * at.step)];
    return result;
  }
  budget.items(static_cast<uint64_t>(at.count));
  std::vector<Value> items;
  for (int64_t i = 0; i < at.count; ++i) items.push_back(value.items()[static_cast<size_t>(at.first + i * at.step)]);
  return make_list(std::move(items), value.sequence()->kind == Sequence::tuple ? Sequence::tuple : Sequence::list);
}

}  // namespace fovea::jinja
