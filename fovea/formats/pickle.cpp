#include "fovea/formats/pickle.h"

#include <bit>
#include <cstring>
#include <map>

#include "fovea/base/error.h"

namespace fovea {

// A stack machine: each operation is a byte with its argument, and makes at most one value, so that a pickle of n bytes takes memory
// proportional to n.
class PickleReader final {
 public:
  PickleReader(Pickle& into, std::string_view bytes, std::string_view where)
      : into_(into), rest_(bytes), where_(where) {}

  void run() {
    while (!done_) operation(static_cast<unsigned char>(take(1)[0]));
  }

 private:
  using Value = Pickle::Value;
  using Place = Pickle::Place;
  static constexpr Place mark = Pickle::nowhere;
  static constexpr size_t most_values = 1'000'000;

  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    throw Error(Error::corrupt, "{}: {}", where_, fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(Error::unsupported, "{}: found {} in the pickle, expected tensors, numbers and texts alone", where_,
                what);
  }

  std::string_view take(uint64_t count) {
    if (count > rest_.size()) fail("the pickle ends in the middle of a value");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T little() {
    T value = 0;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view line() {
    const size_t end = rest_.find('\n');
    if (end == rest_.npos) fail("the pickle ends in the middle of a name");
    const std::string_view taken = take(end + 1);
    return taken.substr(0, end);
  }

  void push(Value value) {
    if (into_.values_.size() == most_values) fail("found more than {} values in the pickle", most_values);
    into_.values_.push_back(std::move(value));
    stack_.push_back(into_.values_.size() - 1);
  }
  void push_integer(int64_t i) { push({.kind = Value::integer_number, .integer = i}); }
  void push_text(std::string_view text) { push({.kind = Value::text_value, .text = std::string(text)}); }
  Place pop() {
    if (stack_.empty() || stack_.back() == mark) fail("found an operation without the values that it takes");
    const Place top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Value& top() {
    if (stack_.empty() || stack_.back() == mark) fail("found an operation without the value that it changes");
    return into_.values_[stack_.back()];
  }
  std::vector<Place> pop_to_mark() {
    size_t first = stack_.size();
    while (first > 0 && stack_[first - 1] != mark) --first;
    if (first == 0) fail("found the end of a list that has no beginning");
    const std::vector<Place> items(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first - 1);
    return items;
  }
  void push_tuple(size_t count) {
    std::vector<Place> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push({.kind = Value::list, .items = std::move(items)});
  }
  void set_entries(const std::vector<Place>& items) {
    Value& to = top();
    if (to.kind != Value::dictionary || items.size() % 2 != 0) fail("found entries of something that is no dictionary");
    for (size_t i = 0; i < items.size(); i += 2) to.entries.emplace_back(items[i], items[i + 1]);
  }
  void append(const std::vector<Place>& items) {
    Value& to = top();
    if (to.kind != Value::list) fail("found items of something that is no list");
    to.items.insert(to.items.end(), items.begin(), items.end());
  }
  void get(uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail("found a value that is remembered before it was there");
    stack_.push_back(found->second);
  }
  void put(uint64_t key) {
    top();
    memo_[key] = stack_.back();
  }

  const Value& value(Place place) const { return into_.values_[place]; }
  std::vector<int64_t> integers(Place place) const {
    std::vector<int64_t> all;
    if (value(place).kind != Value::list) fail("found a tensor whose sizes are no tuple");
    for (Place item : value(place).items) {
      if (value(item).kind != Value::integer_number) fail("found a tensor with a size that is no number");
      all.push_back(value(item).integer);
    }
    return all;
  }

  // ('storage', torch.HalfStorage, key, device, elements)
  void persistent() {
    const Value& id = value(pop());
    const bool known = id.kind == Value::list && id.items.size() == 5 && value(id.items[0]).text == "storage" &&
                       value(id.items[1]).kind == Value::name && value(id.items[2]).kind == Value::text_value &&
                       value(id.items[4]).kind == Value::integer_number;
    if (!known) refuse("something that is stored outside and is no storage");
    push({.kind = Value::storage,
          .integer = value(id.items[4]).integer,
          .storage_type = value(id.items[1]).text,
          .storage_key = value(id.items[2]).text});
  }

  // The few names that stand for what a tensor is made by.
  void reduce() {
    const Value& arguments = value(pop());
    const Value& function = value(pop());
    if (function.kind != Value::name || arguments.kind != Value::list) refuse("a call of what is no name");
    const std::vector<Place>& given = arguments.items;
    if (function.text == "collections OrderedDict" && given.empty()) return push({.kind = Value::dictionary});
    if (function.text == "torch._utils _rebuild_parameter" && !given.empty() && value(given[0]).kind == Value::tensor)
      return stack_.push_back(given[0]);
    if (function.text != "torch._utils _rebuild_tensor_v2") refuse(fmt::format("a call of '{}'", function.text));
    if (given.size() < 4 || value(given[0]).kind != Value::storage || value(given[1]).kind != Value::integer_number)
      fail("found a tensor without a storage");
    const Value& storage = value(given[0]);
    push({.kind = Value::tensor,
          .integer = storage.integer,
          .storage_type = storage.storage_type,
          .storage_key = storage.storage_key,
          .offset = value(given[1]).integer,
          .shape = integers(given[2]),
          .strides = integers(given[3])});
  }

  void build() {
    pop();  // attributes of a dictionary, which nobody asks for
    if (top().kind != Value::dictionary) refuse("the state of an object");
  }

  void name() {
    const std::string_view module = line(), function = line();
    push({.kind = Value::name, .text = fmt::format("{} {}", module, function)});
  }

  void long_integer() {
    const std::string_view bytes = take(little<uint8_t>());
    if (bytes.size() > 8) fail("found a whole number of more than 64 bits");
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
    if (negative && bytes.size() < 8) value |= ~uint64_t{0} << (8 * bytes.size());
    push_integer(static_cast<int64_t>(value));
  }

  void operation(unsigned char code) {
    switch (code) {
      case 0x80:
        return void(take(1));  // which version it is: the operations tell
      case 0x95:
        return void(take(8));  // how long a frame is
      case '.':
        return finish();
      case '(':
        return stack_.push_back(mark);
      case '0':
        return void(pop());
      case '}':
        return push({.kind = Value::dictionary});
      case ']':
      case ')':
        return push({.kind = Value::list});
      case 'N':
        return push({});
      case 0x88:
        return push({.kind = Value::flag, .integer = 1});
      case 0x89:
        return push({.kind = Value::flag});
      case 'K':
        return push_integer(little<uint8_t>());
      case 'M':
        return push_integer(little<uint16_t>());
      case 'J':
        return push_integer(little<int32_t>());
      case 0x8a:
        return long_integer();
      case 'G':
        return push({.kind = Value::number, .real = std::bit_cast<double>(__builtin_bswap64(little<uint64_t>()))});
      case 'X':
        return push_text(take(little<uint32_t>()));
      case 0x8c:
        return push_text(take(little<uint8_t>()));
      case 't':
        return push({.kind = Value::list, .items = pop_to_mark()});
      case 0x85:
        return push_tuple(1);
      case 0x86:
        return push_tuple(2);
      case 0x87:
        return push_tuple(3);
      case 'e':
        return append(pop_to_mark());
      case 'a': {
        const Place item = pop();
        return append({item});
      }
      case 'u':
        return set_entries(pop_to_mark());
      case 's': {
        const Place what = pop(), key = pop();
        return set_entries({key, what});
      }
      case 'h':
        return get(little<uint8_t>());
      case 'j':
        return get(little<uint32_t>());
      case 'q':
        return put(little<uint8_t>());
      case 'r':
        return put(little<uint32_t>());
      case 0x94:
        return put(memo_.size());
      case 'c':
        return name();
      case 'Q':
        return persistent();
      case 'R':
        return reduce();
      case 'b':
        return build();
      default:
        refuse(fmt::format("the operation 0x{:02x}", code));
    }
  }

  void finish() {
    into_.root_ = pop();
    done_ = true;
  }

  Pickle& into_;
  std::string_view rest_, where_;
  std::vector<Place> stack_;
  std::map<uint64_t, Place> memo_;
  bool done_ = false;
};

Pickle::Pickle(std::string_view bytes, std::string_view where) { PickleReader(*this, bytes, where).run(); }

}  // namespace fovea
