#include "fovea/data/text/jinja/value.h"

#include <algorithm>

#include "fovea/data/text/jinja/python_text.h"

namespace fovea::jinja {
namespace {

constexpr int most_levels = 200;

int depth_of(const Value& value) {
  if (value.sequence()) return value.sequence()->depth;
  return value.mapping() ? value.mapping()->depth : 0;
}

void check_depth(int depth) {
  if (depth > most_levels)
    throw Fault(Error::invalid, "found values nested more than {} deep, expected fewer levels", most_levels);
}

// Views compare as lists here: Python's are compared by nobody.
bool same_kind(const Sequence& a, const Sequence& b) {
  return (a.kind == Sequence::tuple) == (b.kind == Sequence::tuple);
}

bool equal_mappings(Budget& budget, const Mapping& a, const Mapping& b) {
  if (a.pairs.size() != b.pairs.size()) return false;
  return std::all_of(a.pairs.begin(), a.pairs.end(), [&](const auto& pair) {
    const Value* other = find(budget, b, pair.first);
    return other && equal(budget, pair.second, *other);
  });
}

}  // namespace

const std::vector<Value>& Value::items() const { return sequence()->values_of; }

Value make_list(std::vector<Value> items, Sequence::Kind kind) {
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, depth_of(item));
  check_depth(depth + 1);
  return std::make_shared<const Sequence>(Sequence{std::move(items), kind, depth + 1});
}

Value make_dict(std::vector<std::pair<Value, Value>> pairs) {
  int depth = 0;
  for (const auto& [key, value] : pairs) depth = std::max({depth, depth_of(key), depth_of(value)});
  check_depth(depth + 1);
  return std::make_shared<const Mapping>(Mapping{std::move(pairs), depth + 1});
}

Value undefined(std::string why) { return Undefined{std::make_shared<const std::string>(std::move(why))}; }

std::string_view type_name(const Value& value) {
  if (value.is_undefined()) return "Undefined";
  if (value.is_none()) return "NoneType";
  if (value.boolean()) return "bool";
  if (value.integer()) return "int";
  if (value.real()) return "float";
  if (value.text()) return "str";
  if (value.mapping()) return "dict";
  if (value.object()) return value.object()->kind();
  constexpr std::string_view names[] = {"list", "tuple", "dict_keys", "dict_values", "dict_items"};
  return names[value.sequence()->kind];
}

bool truth(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (value.is_number()) return value.number() != 0;
  if (value.text()) return !value.text()->empty();
  if (value.sequence()) return !value.items().empty();
  return !value.mapping() || !value.mapping()->pairs.empty();
}

bool equal(Budget& budget, const Value& a, const Value& b) {
  budget.steps(1);
  if (a.is_whole() && b.is_whole()) return a.whole() == b.whole();
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  if (a.text() && b.text()) {
    budget.bytes(std::min(a.text()->size(), b.text()->size()));
    return *a.text() == *b.text();
  }
  if (a.sequence() && b.sequence()) {
    if (!same_kind(*a.sequence(), *b.sequence()) || a.items().size() != b.items().size()) return false;
    for (size_t i = 0; i < a.items().size(); ++i)
      if (!equal(budget, a.items()[i], b.items()[i])) return false;
    return true;
  }
  if (a.mapping() && b.mapping()) return equal_mappings(budget, *a.mapping(), *b.mapping());
  if (a.object() || b.object()) return a.object() == b.object();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool less(Budget& budget, const Value& a, const Value& b) {
  budget.steps(1);
  if (a.is_whole() && b.is_whole()) return a.whole() < b.whole();
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  if (a.text() && b.text()) {
    budget.bytes(std::min(a.text()->size(), b.text()->size()));
    return *a.text() < *b.text();
  }
  if (a.sequence() && b.sequence() && same_kind(*a.sequence(), *b.sequence())) {
    const size_t both = std::min(a.items().size(), b.items().size());
    for (size_t i = 0; i < both; ++i)
      if (!equal(budget, a.items()[i], b.items()[i])) return less(budget, a.items()[i], b.items()[i]);
    return a.items().size() < b.items().size();
  }
  for (const Value* v : {&a, &b})
    if (v->undefined() && v->undefined()->why) throw Fault(Error::invalid, "{}", *v->undefined()->why);
  throw Fault(Error::invalid, "found '{}' and '{}', which have no order", type_name(a), type_name(b));
}

const Value* find(Budget& budget, const Mapping& mapping, const Value& key) {
  for (const auto& [other, value] : mapping.pairs)
    if (equal(budget, other, key)) return &value;
  return nullptr;
}

const Value* find(Budget& budget, const Mapping& mapping, std::string_view key) {
  budget.steps(static_cast<int64_t>(mapping.pairs.size() / 8));
  for (const auto& [other, value] : mapping.pairs)
    if (other.text() && *other.text() == key) return &value;
  return nullptr;
}

void put(Budget& budget, std::vector<std::pair<Value, Value>>& pairs, Value key, Value value) {
  if (key.mapping() || (key.sequence() && key.sequence()->kind != Sequence::tuple))
    throw Fault(Error::invalid, "found '{}' as the key of a dict", type_name(key));
  for (auto& [other, old] : pairs) {
    if (!equal(budget, other, key)) continue;
    old = std::move(value);
    return;
  }
  pairs.emplace_back(std::move(key), std::move(value));
}

std::vector<Value> iterate(Budget& budget, const Value& value) {
  std::vector<Value> result;
  if (value.is_undefined()) return result;
  if (value.sequence()) {
    budget.items(value.items().size());
    return value.items();
  }
  if (value.mapping()) {
    budget.items(value.mapping()->pairs.size());
    for (const auto& pair : value.mapping()->pairs) result.push_back(pair.first);
    return result;
  }
  if (!value.text()) throw Fault(Error::invalid, "found '{}', expected something to go through", type_name(value));
  budget.items(value.text()->size());
  for (std::string_view c : characters(*value.text())) result.emplace_back(c);
  return result;
}

int64_t length(const Value& value) {
  if (value.is_undefined()) return 0;
  if (value.text()) return static_cast<int64_t>(character_count(*value.text()));
  if (value.sequence()) return static_cast<int64_t>(value.items().size());
  if (value.mapping()) return static_cast<int64_t>(value.mapping()->pairs.size());
  throw Fault(Error::invalid, "found '{}', which has no length", type_name(value));
}

}  // namespace fovea::jinja
