// A value of a template, as Python has them: undefined, None, bool, int (of 64 bits), float, str, list, tuple, dict and the
// objects that can be called or have attributes. Values do not change once made (only objects do), as in Jinja2's immutable sandbox.
//
//   Value list = make_list({Value("a"), Value(int64_t{2})});
//   if (const std::string* text = list.items()[0].text()) …
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fovea/data/text/jinja/budget.h"

namespace fovea::jinja {

class Object;
class Renderer;
struct Arguments;
struct Sequence;
struct Mapping;

struct Undefined {
  std::shared_ptr<const std::string> why;  // "'x' is undefined"
};
struct None {};

class Value final {
 public:
  Value() = default;
  Value(None n) : is_(n) {}
  Value(Undefined u) : is_(std::move(u)) {}
  Value(std::same_as<bool> auto b) : is_(b) {}
  Value(int64_t i) : is_(i) {}
  Value(double d) : is_(d) {}
  Value(std::string text) : is_(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::shared_ptr<const Sequence> s) : is_(std::move(s)) {}
  Value(std::shared_ptr<const Mapping> m) : is_(std::move(m)) {}
  Value(Object* o) : is_(o) {}

  bool is_undefined() const { return std::holds_alternative<Undefined>(is_); }
  bool is_none() const { return std::holds_alternative<None>(is_); }
  const Undefined* undefined() const { return std::get_if<Undefined>(&is_); }
  const bool* boolean() const { return std::get_if<bool>(&is_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&is_); }
  const double* real() const { return std::get_if<double>(&is_); }
  const std::string* text() const { return pointed<std::string>(); }
  const Sequence* sequence() const { return pointed<Sequence>(); }
  const Mapping* mapping() const { return pointed<Mapping>(); }
  Object* object() const { return std::holds_alternative<Object*>(is_) ? std::get<Object*>(is_) : nullptr; }
  const std::vector<Value>& items() const;  // of a sequence

  bool is_number() const { return boolean() || integer() || real(); }
  // An int, or a bool, which Python counts as one.
  bool is_whole() const { return boolean() || integer(); }
  int64_t whole() const { return boolean() ? *boolean() : *integer(); }
  double number() const { return real() ? *real() : static_cast<double>(whole()); }

 private:
  template <class T>
  const T* pointed() const {
    const auto* p = std::get_if<std::shared_ptr<const T>>(&is_);
    return p ? p->get() : nullptr;
  }

  std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const std::string>,
               std::shared_ptr<const Sequence>, std::shared_ptr<const Mapping>, Object*>
      is_;
};

struct Sequence {
  enum Kind { list, tuple, keys, values, items };  // the last three are a dict's views
  std::vector<Value> values_of;
  Kind kind = list;
  int depth = 1;
};

// Pairs in the order of their making; a few dozen at most, so that looking through them is the fastest.
struct Mapping {
  std::vector<std::pair<Value, Value>> pairs;
  int depth = 1;
};

// Lives as long as the rendering, which owns it, so that objects may refer to each other and to themselves.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string_view kind() const = 0;
  virtual Value attribute(Renderer&, std::string_view) { return {}; }
  virtual bool callable() const { return false; }
  virtual Value call(Renderer&, const Arguments&) {
    throw Fault(Error::invalid, "found a call of a {}, expected one of a function", kind());
  }
};

// More than 200 levels of lists in lists are a Fault.
Value make_list(std::vector<Value> items, Sequence::Kind kind = Sequence::list);
Value make_dict(std::vector<std::pair<Value, Value>> pairs);
Value undefined(std::string why);

std::string_view type_name(const Value& value);  // as Python's type(value).__name__
bool truth(const Value& value);
bool equal(Budget& budget, const Value& a, const Value& b);
bool less(Budget& budget, const Value& a, const Value& b);  // a Fault if they have no order
// The value under a key; nullptr if there is none.
const Value* find(Budget& budget, const Mapping& mapping, const Value& key);
const Value* find(Budget& budget, const Mapping& mapping, std::string_view key);
// Replaces the value under a key, or adds it; a list or a dict as key is a Fault.
void put(Budget& budget, std::vector<std::pair<Value, Value>>& pairs, Value key, Value value);
// What `for` and list() go through: items, keys, characters; of an undefined value nothing.
std::vector<Value> iterate(Budget& budget, const Value& value);
int64_t length(const Value& value);

}  // namespace fovea::jinja
