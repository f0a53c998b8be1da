#include "fovea/data/text/jinja/methods.h"

#include <algorithm>
#include <span>

#include "fovea/data/text/jinja/printing.h"
#include "fovea/data/text/jinja/python_text.h"

namespace fovea::jinja {
namespace {

using Run = Value (*)(Budget&, const Value& self, const Arguments&);
struct Entry {
  std::string_view name;
  Run run;  // nullptr: it would change the value
};

std::optional<std::string_view> optional_text(const Bound& b, size_t i) {
  if (!b.has(i)) return {};
  return b.text(i);
}

Value list_of(const Pieces& pieces) {
  std::vector<Value> items;
  for (std::string_view piece : pieces) items.emplace_back(piece);
  return make_list(std::move(items));
}

template <Side side>
Value strip_method(Budget&, const Value& self, const Arguments& a) {
  const Bound b(a, "strip", {"chars"});
  return strip(*self.text(), side, optional_text(b, 0));
}

template <Side from>
Value split_method(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "split", {"sep", "maxsplit"});
  return list_of(split(budget, *self.text(), optional_text(b, 0), b.whole(1, -1), from));
}

Value splitlines(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "splitlines", {"keepends"});
  return list_of(split_lines(budget, *self.text(), b.flag(0, false)));
}

// The part of a text that the arguments start and end leave, and how many characters stand before it.
struct Window {
  std::string_view text;
  int64_t before = 0;
};
Window window(const std::string& text, const Bound& b) {
  const auto size = static_cast<int64_t>(character_count(text));
  const auto place = [&](size_t i, int64_t otherwise) {
    const int64_t at = b.whole(i, otherwise);
    return std::clamp<int64_t>(at < 0 ? std::max(at, -size) + size : at, 0, size);
  };
  const int64_t begin = place(1, 0), end = std::max(place(2, size), begin);
  const size_t first = byte_of_character(text, begin);
  return {std::string_view(text).substr(first, byte_of_character(text, end) - first), begin};
}

template <bool front>
Value begins_or_ends(Budget&, const Value& self, const Arguments& a) {
  const Bound b(a, front ? "startswith" : "endswith", {"text", "start", "end"});
  const std::string_view text = window(*self.text(), b).text;
  const auto fits = [&](const Value& v) {
    if (!v.text()) throw Fault(Error::invalid, "startswith: found '{}', expected a str", type_name(v));
    return front ? text.starts_with(*v.text()) : text.ends_with(*v.text());
  };
  const Value& what = b.value(0);
  if (what.sequence() && what.sequence()->kind == Sequence::tuple)
    return std::any_of(what.items().begin(), what.items().end(), fits);
  return fits(what);
}

template <bool from_right, bool must>
Value find_method(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "find", {"sub", "start", "end"});
  const Window w = window(*self.text(), b);
  budget.search(w.text.size(), b.text(0).size());
  const size_t at = from_right ? w.text.rfind(b.text(0)) : w.text.find(b.text(0));
  if (at != w.text.npos) return w.before + static_cast<int64_t>(character_count(w.text.substr(0, at)));
  if (must) throw Fault(Error::invalid, "index: found no {:?} in the text", b.text(0).substr(0, 40));
  return int64_t{-1};
}

Value count_method(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "count", {"sub", "start", "end"});
  budget.search(self.text()->size(), b.text(0).size());
  return count(window(*self.text(), b).text, b.text(0));
}

Value replace_method(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "replace", {"old", "new", "count"});
  return replace(budget, *self.text(), b.text(0), b.text(1), b.whole(2, -1));
}

Value join_method(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "join", {"iterable"});
  std::string result;
  bool first = true;
  for (const Value& item : iterate(budget, b.value(0))) {
    if (!item.text()) throw Fault(Error::invalid, "join: found '{}', expected a str", type_name(item));
    budget.bytes(item.text()->size() + self.text()->size());
    if (!std::exchange(first, false)) result += *self.text();
    result += *item.text();
  }
  return result;
}

template <std::string (*change)(std::string_view)>
Value changed(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "this method", {});
  budget.items(self.text()->size() / 8);
  return change(*self.text());
}

template <CharacterClass which>
Value is_class(Budget& budget, const Value& self, const Arguments&) {
  budget.items(self.text()->size() / 8);
  return all_of_class(*self.text(), which);
}

template <bool front>
Value without(Budget&, const Value& self, const Arguments& a) {
  const Bound b(a, front ? "removeprefix" : "removesuffix", {"part"});
  std::string_view text = *self.text();
  if (front && text.starts_with(b.text(0))) text.remove_prefix(b.text(0).size());
  if (!front && text.ends_with(b.text(0))) text.remove_suffix(b.text(0).size());
  return text;
}

template <bool from_right>
Value partition(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "partition", {"sep"});
  const std::string_view text = *self.text();
  budget.search(text.size(), b.text(0).size());
  const size_t at = from_right ? text.rfind(b.text(0)) : text.find(b.text(0));
  if (b.text(0).empty()) throw Fault(Error::invalid, "partition: found an empty separator");
  if (at == text.npos) {
    return from_right ? make_list({Value(""), Value(""), self}, Sequence::tuple)
                      : make_list({self, Value(""), Value("")}, Sequence::tuple);
  }
  return make_list({text.substr(0, at), b.value(0), text.substr(at + b.text(0).size())}, Sequence::tuple);
}

// Spaces (or another character) up to a width: before the text, behind it, or on both sides.
template <Side text_at>
Value padded(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "ljust", {"width", "fillchar"});
  const int64_t missing = std::max<int64_t>(b.whole(0) - length(self), 0);
  const std::string fill = b.text(1, " ");
  if (character_count(fill) != 1) throw Fault(Error::invalid, "ljust: expected one character to fill with");
  budget.bytes(static_cast<uint64_t>(missing));
  budget.items(static_cast<uint64_t>(missing));
  int64_t left = text_at == Side::left ? 0 : missing;
  if (text_at == Side::both) left = missing / 2 + (missing & b.whole(0) & 1);
  std::string result;
  for (int64_t i = 0; i < left; ++i) result += fill;
  result += *self.text();
  for (int64_t i = left; i < missing; ++i) result += fill;
  return result;
}

Value zfill(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "zfill", {"width"});
  const int64_t missing = std::max<int64_t>(b.whole(0) - length(self), 0);
  budget.bytes(static_cast<uint64_t>(missing) + self.text()->size());
  std::string result = *self.text();
  return result.insert(result.starts_with('-') || result.starts_with('+') ? 1 : 0, static_cast<size_t>(missing), '0');
}

// "{} and {name}": fields without a format of their own.
Value format(Budget& budget, const Value& self, const Arguments& a) {
  const std::string& pattern = *self.text();
  std::string result;
  size_t next = 0;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    budget.steps(1);
    if ((c == '{' || c == '}') && pattern.substr(at + 1, 1) == std::string(1, c)) {
      result += c;
      ++at;
    } else if (c == '{') {
      const size_t end = std::min(pattern.find('}', at), pattern.size());
      const std::string field = pattern.substr(at + 1, end - at - 1);
      const bool number = !field.empty() && field.size() < 6 &&
                          std::all_of(field.begin(), field.end(), [](char d) { return d >= '0' && d <= '9'; });
      const auto named = std::find_if(a.named.begin(), a.named.end(), [&](const auto& n) { return n.first == field; });
      const size_t place = number ? std::stoul(field) : next;
      if (field.empty()) ++next;
      const bool by_place = (number || field.empty()) && place < a.list.size();
      if (!by_place && named == a.named.end())
        throw Fault(Error::unsupported, "format: found the field {{{}}}, expected the place or name of an argument",
                    field);
      const std::string text = print(budget, by_place ? a.list[place] : named->second);
      budget.bytes(text.size());
      result += text;
      at = end;
    } else if (c == '}') {
      throw Fault(Error::invalid, "format: found a }} on its own, expected two of them");
    } else {
      result += c;
    }
  }
  return result;
}

constexpr Entry text_methods[] = {
    {"strip", strip_method<Side::both>},
    {"lstrip", strip_method<Side::left>},
    {"rstrip", strip_method<Side::right>},
    {"split", split_method<Side::left>},
    {"rsplit", split_method<Side::right>},
    {"splitlines", splitlines},
    {"startswith", begins_or_ends<true>},
    {"endswith", begins_or_ends<false>},
    {"find", find_method<false, false>},
    {"rfind", find_method<true, false>},
    {"index", find_method<false, true>},
    {"rindex", find_method<true, true>},
    {"count", count_method},
    {"replace", replace_method},
    {"join", join_method},
    {"upper", changed<upper>},
    {"lower", changed<lower>},
    {"title", changed<title>},
    {"capitalize", changed<capitalize>},
    {"isalpha", is_class<CharacterClass::alphabetic>},
    {"isdigit", is_class<CharacterClass::digit>},
    {"isnumeric", is_class<CharacterClass::digit>},
    {"isdecimal", is_class<CharacterClass::digit>},
    {"isalnum", is_class<CharacterClass::alphanumeric>},
    {"isspace", is_class<CharacterClass::space>},
    {"isupper", is_class<CharacterClass::upper>},
    {"islower", is_class<CharacterClass::lower>},
    {"removeprefix", without<true>},
    {"removesuffix", without<false>},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"ljust", padded<Side::left>},
    {"rjust", padded<Side::right>},
    {"center", padded<Side::both>},
    {"zfill", zfill},
    {"format", format},
};

template <Sequence::Kind kind>
Value view(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "this method", {});
  budget.items(3 * self.mapping()->pairs.size());
  std::vector<Value> items;
  for (const auto& [key, value] : self.mapping()->pairs) {
    items.push_back(kind == Sequence::keys     ? key
                    : kind == Sequence::values ? value
                                               : make_list({key, value}, Sequence::tuple));
  }
  return make_list(std::move(items), kind);
}

Value get(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "get", {"key", "default"});
  const Value* found = find(budget, *self.mapping(), b.value(0));
  return found ? *found : b.value(1, None());
}

Value copy(Budget&, const Value& self, const Arguments&) { return self; }

constexpr Entry dict_methods[] = {
    {"items", view<Sequence::items>},
    {"keys", view<Sequence::keys>},
    {"values", view<Sequence::values>},
    {"get", get},
    {"copy", copy},
    {"pop", nullptr},
    {"update", nullptr},
    {"clear", nullptr},
    {"setdefault", nullptr},
    {"popitem", nullptr},
};

Value index_in_list(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "index", {"value"});
  for (size_t i = 0; i < self.items().size(); ++i)
    if (equal(budget, self.items()[i], b.value(0))) return static_cast<int64_t>(i);
  throw Fault(Error::invalid, "index: found no {} in the list", repr(budget, b.value(0)));
}

Value count_in_list(Budget& budget, const Value& self, const Arguments& a) {
  const Bound b(a, "count", {"value"});
  return static_cast<int64_t>(std::count_if(self.items().begin(), self.items().end(),
                                            [&](const Value& item) { return equal(budget, item, b.value(0)); }));
}

constexpr Entry list_methods[] = {
    {"index", index_in_list}, {"count", count_in_list}, {"copy", copy},       {"append", nullptr},
    {"extend", nullptr},      {"insert", nullptr},      {"pop", nullptr},     {"remove", nullptr},
    {"clear", nullptr},       {"sort", nullptr},        {"reverse", nullptr},
};

const Entry* find_entry(const Value& self, std::string_view name) {
  std::span<const Entry> entries;
  if (self.text()) entries = text_methods;
  if (self.mapping()) entries = dict_methods;
  if (self.sequence() && self.sequence()->kind == Sequence::list) entries = list_methods;
  if (self.sequence() && self.sequence()->kind == Sequence::tuple) entries = std::span(list_methods).first(2);
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

bool has_method(const Value& self, std::string_view name) { return find_entry(self, name) != nullptr; }

Value call_method(Budget& budget, const Value& self, std::string_view name, const Arguments& arguments) {
  const Entry* entry = find_entry(self, name);
  if (!entry->run)
    throw Fault(Error::invalid, "found '{}' of a {}: templates may not change values", name, type_name(self));
  if (self.text()) budget.bytes(self.text()->size());
  return entry->run(budget, self, arguments);
}

}  // namespace fovea::jinja
