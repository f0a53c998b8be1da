#include <algorithm>

#include "fovea/data/text/jinja/filters.h"
#include "fovea/data/text/jinja/methods.h"
#include "fovea/data/text/jinja/operators.h"
#include "fovea/data/text/jinja/predicates.h"
#include "fovea/data/text/jinja/printing.h"
#include "fovea/data/text/jinja/python_text.h"

namespace fovea::jinja {
namespace {

// The value at a path such as "function.name" or 0; the value itself without one.
Value at_path(Budget& budget, Value value, const Value* path) {
  if (!path || path->is_none()) return value;
  if (!path->text()) return item(budget, value, *path);
  for (std::string_view part : split(budget, *path->text(), ".", -1)) {
    const bool index = !part.empty() && part.size() < 10 &&
                       std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    value = item(budget, value, index ? Value(int64_t{std::stoi(std::string(part))}) : Value(part));
  }
  return value;
}

Value key_of(Budget& budget, const Value& value, const Value* path, bool case_sensitive) {
  Value key = at_path(budget, value, path);
  if (case_sensitive || !key.text()) return key;
  budget.items(key.text()->size() / 8);
  return lower(*key.text());
}

Value join(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "join", {"d", "attribute"});
  const std::string separator = print(budget, b.value(0, Value("")));
  std::string result;
  bool first = true;
  for (const Value& v : iterate(budget, value)) {
    const std::string text = print(budget, at_path(budget, v, b.pointer(1)));
    budget.bytes(text.size() + separator.size());
    if (!std::exchange(first, false)) result += separator;
    result += text;
  }
  return result;
}

Value first(Budget& budget, const Value& value, const Arguments&) {
  const std::vector<Value> items = iterate(budget, value);
  return items.empty() ? undefined("there is no first item, the sequence was empty") : items.front();
}

Value last(Budget& budget, const Value& value, const Arguments&) {
  const std::vector<Value> items = iterate(budget, value);
  return items.empty() ? undefined("there is no last item, the sequence was empty") : items.back();
}

Value list(Budget& budget, const Value& value, const Arguments&) { return make_list(iterate(budget, value)); }

Value reverse(Budget& budget, const Value& value, const Arguments&) {
  const Value back = int64_t{-1};
  if (value.text()) return slice(budget, value, nullptr, nullptr, &back);
  std::vector<Value> items = iterate(budget, value);
  std::reverse(items.begin(), items.end());
  return make_list(std::move(items));
}

Value items(Budget& budget, const Value& value, const Arguments&) {
  if (value.is_undefined()) return make_list({});
  if (!value.mapping()) throw Fault(Error::invalid, "items: found '{}', expected a dict", type_name(value));
  return make_list(iterate(budget, call_method(budget, value, "items", {})));
}

void sort_by(Budget& budget, std::vector<std::pair<Value, Value>>& keyed, bool descending) {
  budget.items(keyed.size());
  const auto before = [&](const auto& a, const auto& b) {
    return descending ? less(budget, b.first, a.first) : less(budget, a.first, b.first);
  };
  std::stable_sort(keyed.begin(), keyed.end(), before);
}

Value values_of(std::vector<std::pair<Value, Value>> keyed) {
  std::vector<Value> values;
  for (auto& pair : keyed) values.push_back(std::move(pair.second));
  return make_list(std::move(values));
}

Value dictsort(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "dictsort", {"case_sensitive", "by", "reverse"});
  const std::string by = b.text(1, "key");
  if (by != "key" && by != "value") throw Fault(Error::invalid, "dictsort: found by='{}', expected key or value", by);
  const Value pairs = items(budget, value, {});
  const Value place = int64_t{by == "value"};
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& pair : pairs.items()) keyed.emplace_back(key_of(budget, pair, &place, b.flag(0, false)), pair);
  sort_by(budget, keyed, b.flag(2, false));
  return values_of(std::move(keyed));
}

Value sort(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "sort", {"reverse", "case_sensitive", "attribute"});
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& v : iterate(budget, value)) {
    std::vector<Value> keys;
    if (b.has(2) && b.value(2).text()) {  // "role,name" is by role, then by name
      for (std::string_view part : split(budget, b.text(2), ",", -1)) {
        const Value path = part;
        keys.push_back(key_of(budget, v, &path, b.flag(1, false)));
      }
    } else {
      keys.push_back(key_of(budget, v, b.pointer(2), b.flag(1, false)));
    }
    keyed.emplace_back(make_list(std::move(keys)), v);
  }
  sort_by(budget, keyed, b.flag(0, false));
  return values_of(std::move(keyed));
}

Value unique(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "unique", {"case_sensitive", "attribute"});
  std::vector<Value> seen, result;
  for (const Value& v : iterate(budget, value)) {
    Value key = key_of(budget, v, b.pointer(1), b.flag(0, false));
    if (std::any_of(seen.begin(), seen.end(), [&](const Value& other) { return equal(budget, other, key); })) continue;
    seen.push_back(std::move(key));
    result.push_back(v);
  }
  return make_list(std::move(result));
}

template <bool greatest>
Value extreme(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, greatest ? "max" : "min", {"case_sensitive", "attribute"});
  Value best = undefined("there is no smallest or greatest item, the sequence was empty"), best_key;
  for (const Value& v : iterate(budget, value)) {
    Value key = key_of(budget, v, b.pointer(1), b.flag(0, false));
    const bool better = best.is_undefined() || (greatest ? less(budget, best_key, key) : less(budget, key, best_key));
    if (!better) continue;
    best = v;
    best_key = std::move(key);
  }
  return best;
}

Value sum(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "sum", {"attribute", "start"});
  Value total = b.value(1, int64_t{0});
  if (total.text()) throw Fault(Error::invalid, "sum: found a str to begin with, expected a number");
  for (const Value& v : iterate(budget, value))
    total = arithmetic(budget, "+", total, at_path(budget, v, b.pointer(0)));
  return total;
}

Value batch(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "batch", {"linecount", "fill_with"});
  const int64_t size = b.whole(0);
  if (size < 1) throw Fault(Error::invalid, "batch: found {} items in a batch, expected at least one", size);
  std::vector<Value> batches, now;
  for (const Value& v : iterate(budget, value)) {
    budget.items(2);
    if (static_cast<int64_t>(now.size()) == size) batches.push_back(make_list(std::exchange(now, {})));
    now.push_back(v);
  }
  if (!now.empty() && b.has(1)) {
    budget.items(static_cast<uint64_t>(size));
    now.resize(static_cast<size_t>(size), b.value(1));
  }
  if (!now.empty()) batches.push_back(make_list(std::move(now)));
  return make_list(std::move(batches));
}

Value slices(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "slice", {"slices", "fill_with"});
  const std::vector<Value> all = iterate(budget, value);
  const int64_t count = b.whole(0);
  if (count < 1) throw Fault(Error::invalid, "slice: found {} slices, expected at least one", count);
  budget.items(3 * static_cast<uint64_t>(count));
  const auto parts = static_cast<size_t>(count);
  std::vector<Value> result;
  size_t begin = 0;
  for (size_t i = 0; i < parts; ++i) {
    const size_t end = begin + all.size() / parts + (i < all.size() % parts);
    std::vector<Value> part(all.begin() + static_cast<int64_t>(begin), all.begin() + static_cast<int64_t>(end));
    if (b.has(1) && i >= all.size() % parts) part.push_back(b.value(1));
    result.push_back(make_list(std::move(part)));
    begin = end;
  }
  return make_list(std::move(result));
}

// The arguments from the i-th on.
Arguments behind(const Arguments& a, size_t i) {
  return {{a.list.begin() + static_cast<int64_t>(std::min(i, a.list.size())), a.list.end()}, a.named};
}

const std::string& name_in(const Arguments& a, size_t i, std::string_view who) {
  if (a.list.size() > i && a.list[i].text()) return *a.list[i].text();
  throw Fault(Error::invalid, "{}: expected a name", who);
}

// map('upper'), or map(attribute='name', default='none')
Value map(Budget& budget, const Value& value, const Arguments& a) {
  std::vector<Value> result;
  if (!a.list.empty()) {
    const std::string& name = name_in(a, 0, "map");
    const Arguments rest = behind(a, 1);
    const Budget::Level level(budget);
    for (const Value& v : iterate(budget, value)) result.push_back(apply_filter(budget, name, v, rest));
    return make_list(std::move(result));
  }
  const Bound b(a, "map", {"attribute", "default"});
  b.value(0);
  for (const Value& v : iterate(budget, value)) {
    Value found = at_path(budget, v, b.pointer(0));
    result.push_back(found.is_undefined() && b.has(1) ? b.value(1) : found);
  }
  return make_list(std::move(result));
}

// select('odd'), reject, selectattr('role', 'equalto', 'user'), rejectattr; without a test it is the truth of the value.
template <bool by_attribute, bool keep>
Value select(Budget& budget, const Value& value, const Arguments& a) {
  constexpr size_t test_at = by_attribute ? 1 : 0;
  if (by_attribute && a.list.empty()) throw Fault(Error::invalid, "selectattr: expected the name of an attribute");
  const bool tests = a.list.size() > test_at;
  const std::string name = tests ? name_in(a, test_at, "select") : "";
  const Arguments rest = behind(a, test_at + 1);
  std::vector<Value> result;
  for (const Value& v : iterate(budget, value)) {
    const Value looked_at = by_attribute ? at_path(budget, v, &a.list[0]) : v;
    if ((tests ? apply_test(budget, name, looked_at, rest) : truth(looked_at)) == keep) result.push_back(v);
  }
  return make_list(std::move(result));
}

Value attr(Budget& budget, const Value& value, const Arguments& a) {
  return item(budget, value, Bound(a, "attr", {"name"}).value(0));
}

constexpr Filter filters[] = {
    {"join", join},
    {"first", first},
    {"last", last},
    {"list", list},
    {"reverse", reverse},
    {"items", items},
    {"dictsort", dictsort},
    {"sort", sort},
    {"unique", unique},
    {"min", extreme<false>},
    {"max", extreme<true>},
    {"sum", sum},
    {"batch", batch},
    {"slice", slices},
    {"map", map},
    {"select", select<false, true>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<true, false>},
    {"attr", attr},
};

}  // namespace

std::span<const Filter> list_filters() { return filters; }

}  // namespace fovea::jinja
