#include "fovea/data/text/jinja/predicates.h"

#include <algorithm>
#include <cmath>

#include "fovea/data/text/jinja/filters.h"
#include "fovea/data/text/jinja/operators.h"
#include "fovea/data/text/jinja/python_text.h"

namespace fovea::jinja {
namespace {

using Plain = bool (*)(const Value&);
constexpr std::pair<std::string_view, Plain> plain_tests[] = {
    {"defined", [](const Value& v) { return !v.is_undefined(); }},
    {"undefined", [](const Value& v) { return v.is_undefined(); }},
    {"none", [](const Value& v) { return v.is_none(); }},
    {"string", [](const Value& v) { return v.text() != nullptr; }},
    {"number", [](const Value& v) { return v.is_number(); }},
    {"integer", [](const Value& v) { return v.integer() != nullptr; }},
    {"float", [](const Value& v) { return v.real() != nullptr; }},
    {"boolean", [](const Value& v) { return v.boolean() != nullptr; }},
    {"true", [](const Value& v) { return v.boolean() && *v.boolean(); }},
    {"false", [](const Value& v) { return v.boolean() && !*v.boolean(); }},
    {"mapping", [](const Value& v) { return v.mapping() != nullptr; }},
    {"iterable", [](const Value& v) { return v.text() || v.sequence() || v.mapping() || v.is_undefined(); }},
    {"sequence",
     [](const Value& v) {
       return v.text() || v.mapping() || v.is_undefined() || (v.sequence() && v.sequence()->kind <= Sequence::tuple);
     }},
    {"callable", [](const Value& v) { return v.object() && v.object()->callable(); }},
    {"escaped", [](const Value&) { return false; }},
};

struct Comparison {
  std::string_view name, symbol;
};
constexpr Comparison comparisons[] = {
    {"eq", "=="},      {"equalto", "=="}, {"==", "=="}, {"ne", "!="}, {"!=", "!="},         {"lt", "<"},
    {"lessthan", "<"}, {"<", "<"},        {"gt", ">"},  {">", ">"},   {"greaterthan", ">"}, {"le", "<="},
    {"<=", "<="},      {"ge", ">="},      {">=", ">="}, {"in", "in"},
};

bool same(const Value& a, const Value& b) {
  if (a.sequence() || b.sequence()) return a.sequence() == b.sequence();
  if (a.mapping() || b.mapping()) return a.mapping() == b.mapping();
  Budget enough(1'000'000'000, 1);
  return type_name(a) == type_name(b) && equal(enough, a, b);
}

bool divides(Budget& budget, const Value& value, const Value& by) {
  const Value rest = arithmetic(budget, "%", value, by);
  return rest.is_number() && rest.number() == 0;
}

bool of_case(const Value& value, CharacterClass which) { return value.text() && all_of_class(*value.text(), which); }

}  // namespace

bool apply_test(Budget& budget, std::string_view name, const Value& value, const Arguments& arguments) {
  const auto* plain =
      std::find_if(std::begin(plain_tests), std::end(plain_tests), [&](const auto& t) { return t.first == name; });
  if (plain != std::end(plain_tests)) {
    const Bound b(arguments, name, {});
    return plain->second(value);
  }
  const auto* comparison =
      std::find_if(std::begin(comparisons), std::end(comparisons), [&](const auto& c) { return c.name == name; });
  if (comparison != std::end(comparisons))
    return compare(budget, comparison->symbol, value, Bound(arguments, name, {"other"}).value(0));
  if (name == "sameas") return same(value, Bound(arguments, name, {"other"}).value(0));
  if (name == "divisibleby") return divides(budget, value, Bound(arguments, name, {"num"}).value(0));
  if (name == "even") return divides(budget, value, int64_t{2});
  if (name == "odd") return equal(budget, arithmetic(budget, "%", value, int64_t{2}), int64_t{1});
  if (name == "upper") return of_case(value, CharacterClass::upper);
  if (name == "lower") return of_case(value, CharacterClass::lower);
  if (name == "filter") return value.text() && has_filter(*value.text());
  throw Fault(Error::unsupported, "found the test '{}', which chat templates do not have", name);
}

}  // namespace fovea::jinja
