// Objects of JSON: one a line, or all in one array.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/data/datasets/conll.h"
#include "fovea/data/datasets/files.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

constexpr size_t largest_array = size_t{1} << 30;

// The value under a key, or under a.b if there is no key of that name; null if there is none.
const Json* value_of(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  if (found != object.end()) return &*found;
  const size_t dot = key.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const Json* inner = value_of(object, key.substr(0, dot));
  return inner ? value_of(*inner, key.substr(dot + 1)) : nullptr;
}

// Notes the keys of the first object at a depth in their order, which tells a source from its target.
Json::parser_callback_t noting_keys(int depth, std::vector<std::string>& keys) {
  return [depth, &keys, ended = false](int at, Json::parse_event_t event, const Json& parsed) mutable {
    if (at == depth && event == Json::parse_event_t::key && !ended) keys.push_back(parsed.get<std::string>());
    ended = ended || (at == depth - 1 && event == Json::parse_event_t::object_end);
    return true;
  };
}

// Takes what a file's keys name out of an object. Each member answers what is wrong, or nothing.
class ObjectReader {
 public:
  ObjectReader(ExampleKind kind, const Columns& keys) : kind_(kind), keys_(keys) {}

  std::string take(const Json& object, Example& example) const {
    std::string wrong = take_text(object, keys_.source, example.source);
    if (wrong.empty()) wrong = take_text(object, keys_.text_b, example.text_b);
    if (wrong.empty()) wrong = take_text(object, keys_.target, example.target);
    if (wrong.empty()) wrong = take_label(object, example);
    if (wrong.empty()) wrong = take_list(object, keys_.tokens, example.tokens);
    if (wrong.empty()) wrong = take_list(object, keys_.tags, example.tags);
    if (!wrong.empty() || keys_.tags.empty()) return wrong;
    if (example.tokens.size() != example.tags.size()) {
      return fmt::format("found {} tokens and {} tags", example.tokens.size(), example.tags.size());
    }
    const auto odd = std::ranges::find_if_not(example.tags, is_tag);
    if (odd != example.tags.end()) return fmt::format("found the tag '{}', expected O, B-type or I-type", *odd);
    example.tags = to_iob2(example.tags);
    return {};
  }

 private:
  static std::string take_text(const Json& object, const std::string& key, std::string& into) {
    if (key.empty()) return {};
    const Json* found = value_of(object, key);
    if (!found) return fmt::format("found no key '{}'", key);
    if (!found->is_string()) return fmt::format("found a {} under '{}', expected a text", found->type_name(), key);
    into = trim(found->get_ref<const std::string&>());
    return into.empty() ? fmt::format("found an empty text under '{}'", key) : std::string();
  }

  static std::string take_list(const Json& object, const std::string& key, std::vector<std::string>& into) {
    if (key.empty()) return {};
    const Json* found = value_of(object, key);
    if (!found) return fmt::format("found no key '{}'", key);
    if (!found->is_array()) return fmt::format("'{}': expected a list of texts", key);
    for (const Json& item : *found) {
      if (!item.is_string()) return fmt::format("'{}': expected a list of texts", key);
      into.push_back(item.get<std::string>());
    }
    return into.empty() ? fmt::format("found an empty list under '{}'", key) : std::string();
  }

  std::string take_label(const Json& object, Example& example) const {
    const Json* found = keys_.label.empty() ? nullptr : value_of(object, keys_.label);
    if (kind_ == ExampleKind::pairs) {
      if (found) example.label = found->is_string() ? found->get<std::string>() : found->dump();
      return {};
    }
    if (!found) return take_text(object, keys_.label, example.label);
    if (kind_ != ExampleKind::label_sets) return take_one_label(*found, example.label);
    const size_t count = found->is_array() ? found->size() : 1;
    for (size_t i = 0; i < count; ++i) {
      std::string label;
      const std::string wrong = take_one_label(found->is_array() ? (*found)[i] : *found, label);
      if (!wrong.empty()) return wrong;
      if (std::ranges::find(example.labels, label) == example.labels.end()) example.labels.push_back(std::move(label));
    }
    return {};
  }

  std::string take_one_label(const Json& value, std::string& into) const {
    if (value.is_number() || value.is_boolean()) into = value.dump();
    if (value.is_string()) into = trim(value.get_ref<const std::string&>());
    if (!into.empty()) return {};
    if (value.is_string()) return fmt::format("found an empty text under '{}'", keys_.label);
    return fmt::format("found a {} under '{}', expected one label", value.is_array() ? "list" : value.type_name(),
                       keys_.label);
  }

  ExampleKind kind_;
  Columns keys_;
};

class Objects {
 public:
  Objects(ExampleKind kind, const Columns& wanted, Dataset& into, FileRead& file)
      : kind_(kind), wanted_(wanted), into_(into), file_(file) {}

  void add_line(std::string_view line, const std::string& where) {
    std::vector<std::string> keys;
    const Json object = Json::parse(line, reader_ ? nullptr : noting_keys(1, keys), false);
    add(object, keys, where);
  }

  // With the keys of the first object that there is.
  void add(const Json& object, const std::vector<std::string>& first_keys, const std::string& where) {
    if (!object.is_object()) {
      return into_.add_bad(where, object.is_discarded() ? "not valid JSON" : "expected an object { … }");
    }
    if (!reader_) begin(first_keys, where);
    Example example;
    const std::string wrong = reader_->take(object, example);
    if (kind_ == ExampleKind::texts) example.target = object.dump();
    if (wrong.empty()) {
      into_.add(example);
    } else {
      into_.add_bad(where, wrong);
    }
  }

 private:
  void begin(const std::vector<std::string>& names, const std::string& where) {
    const Columns keys = find_keys(kind_, wanted_, names, where);
    const std::pair<const char*, const std::string&> used[] = {
        {kind_ == ExampleKind::pairs ? "source" : "text", keys.source},
        {"text_b", keys.text_b},
        {"target", keys.target},
        {"label", keys.label},
        {"tokens", keys.tokens},
        {"tags", keys.tags}};
    for (const auto& [role, key] : used) {
      if (!key.empty()) file_.columns += fmt::format("{}{} = {}", file_.columns.empty() ? "" : ", ", role, key);
    }
    reader_.emplace(kind_, keys);
  }

  ExampleKind kind_;
  Columns wanted_;
  Dataset& into_;
  FileRead& file_;
  std::optional<ObjectReader> reader_;
};

void read_array(std::string text, Lines& lines, const std::string& path, Objects& objects) {
  for (std::string line; lines.next(line);) {
    text += '\n' + line;
    if (text.size() > largest_array) {
      throw Error(Error::unsupported, "{}: found an array of more than {} MB; write an object a line instead", path,
                  largest_array >> 20);
    }
  }
  Json array;
  std::vector<std::string> keys;
  try {
    array = Json::parse(text, noting_keys(2, keys));
  } catch (const Json::exception& e) {
    throw Error(Error::corrupt, "{}: not valid JSON: {}", path, e.what());
  }
  text = {};
  for (size_t i = 0; i < array.size(); ++i) objects.add(array[i], keys, fmt::format("{}: item {}", path, i));
}

}  // namespace

void read_json(const std::string& path, ExampleKind kind, Dataset& into, const Columns& keys) {
  Reading reading(into, path);
  Lines lines(path);
  Objects objects(kind, keys, into, reading.file);
  bool first = true;
  for (std::string line; lines.next(line);) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (std::exchange(first, false) && text[0] == '[') {
      read_array(line, lines, path, objects);
      break;
    }
    objects.add_line(text, lines.where());
  }
  reading.finish("a JSON object on each line");
}

}  // namespace fovea
