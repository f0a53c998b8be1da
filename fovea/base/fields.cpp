#include "fovea/base/fields.h"

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"

namespace fovea::detail {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr size_t most_yaml = size_t{1} << 20;      // bytes of a text
constexpr size_t most_expanded = size_t{4} << 20;  // and of what its aliases make of it, with 64 for each value

// A YAML text as JSON: plain scalars become the types that JSON knows, whatever is quoted stays text.
class YamlConverter {
 public:
  explicit YamlConverter(std::string_view where) : where_(where) {}

  OrderedJson operator()(const YAML::Node& node, int depth = 0) {
    if (depth >= 100) throw Error(Error::corrupt, "{}: nested more than 100 deep", where_);
    if (node.IsMap()) return object(node, depth);
    if (node.IsSequence()) {
      count(0);
      OrderedJson array = OrderedJson::array();
      for (const YAML::Node& item : node) array.push_back((*this)(item, depth + 1));
      return array;
    }
    if (!node.IsScalar()) return count(0), nullptr;
    count(node.Scalar().size());
    check_utf8(node.Scalar(), where_);
    if (node.Tag() == "!") return node.Scalar();
    if (bool value; YAML::convert<bool>::decode(node, value)) return value;
    if (int64_t value; YAML::convert<int64_t>::decode(node, value)) return value;
    if (double value; YAML::convert<double>::decode(node, value)) return value;
    return node.Scalar();
  }

 private:
  OrderedJson object(const YAML::Node& node, int depth) {
    count(0);
    OrderedJson::object_t entries;
    std::set<std::string> keys;
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      count(key.size());
      check_utf8(key, where_);  // yaml-cpp makes other bytes of some, of NUL for one
      if (!keys.insert(key).second) throw Error(Error::corrupt, "{}: '{}' stands there twice", where_, key);
      entries.push_back({key, (*this)(entry.second, depth + 1)});
    }
    return entries;
  }

  // An alias stands for a copy of what it names: ten lines of them can be a billion values.
  void count(size_t bytes) {
    expanded_ += bytes + 64;
    if (expanded_ > most_expanded)
      throw Error(Error::corrupt, "{}: found more values than a configuration has; are its aliases meant?", where_);
  }

  std::string_view where_;
  size_t expanded_ = 0;
};

OrderedJson parse_yaml(std::string_view text, std::string_view where) {
  if (text.size() > most_yaml)
    throw Error(Error::corrupt, "{}: found {} bytes of YAML, expected at most {}", where, text.size(), most_yaml);
  check_utf8(text, where);
  try {
    return YamlConverter(where)(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    throw Error(Error::corrupt, "{}:{}: not valid YAML: {}", where, e.mark.line + 1, e.msg);
  }
}

template <class Json>
Json expect_object(Json root, std::string_view where) {
  if (root.is_null()) return Json::object();
  if (!root.is_object()) throw Error(Error::corrupt, "{}: found {}, expected keys and values", where, root.type_name());
  return root;
}

Json parse(Reader::Syntax syntax, std::string_view text, std::string_view where) {
  if (syntax == Reader::yaml) return expect_object(Json(parse_yaml(text, where)), where);
  return expect_object(parse_json(text, where), where);
}

}  // namespace

class Document {
 public:
  // The beginning of a value, for an error.
  static std::string shown(const Json& value) {
    if (value.is_number_float()) return fmt::format("{}", value.get<double>());  // JSON has neither NaN nor infinity
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    size_t end = std::min<size_t>(text.size(), 77);
    while (end < text.size() && (text[end] & 0xC0) == 0x80) --end;
    return end == text.size() ? text : text.substr(0, end) + "…";
  }

  Json root;
  std::string where;
  std::vector<std::string> known;

  // The value of a field, which becomes known; none if there is none, or null.
  Json* find(std::string_view name) {
    if (!is_known(name)) known.emplace_back(name);
    Json* at = &root;
    for (size_t begin = 0; begin <= name.size();) {
      const size_t end = std::min(name.find('.', begin), name.size());
      const auto found = at->find(name.substr(begin, end - begin));
      if (found == at->end()) return nullptr;
      at = &*found, begin = end + 1;
    }
    return at->is_null() ? nullptr : at;
  }

  template <class Value, class Accept>
  void read(const char* name, Value& value, const char* expected, Accept accept) {
    const Json* found = find(name);
    if (!found) return;
    if (!accept(*found)) refuse(name, *found, expected);
    value = found->template get<Value>();
  }

  [[noreturn]] void refuse(const char* name, const Json& found, const char* expected) const {
    throw Error(Error::invalid, "{}: '{}': found {}, expected {}", where, name, shown(found), expected);
  }

  bool is_known(std::string_view name) const { return std::find(known.begin(), known.end(), name) != known.end(); }
  bool holds_known(const std::string& name) const {
    return std::any_of(known.begin(), known.end(), [&](const std::string& k) { return k.starts_with(name + "."); });
  }
};

Reader::Reader(Syntax syntax, std::string_view text, std::string_view where)
    : document_(new Document{parse(syntax, text, where), std::string(where), {}}) {}
Reader::~Reader() { delete document_; }

void Reader::operator()(const char* name, bool& value, const char*) {
  document_->read(name, value, "true or false", [](const Json& j) { return j.is_boolean(); });
}
void Reader::operator()(const char* name, int64_t& value, const char*) {
  document_->read(name, value, "a whole number", [](const Json& j) {
    return j.is_number_integer() && (!j.is_number_unsigned() || j.get<uint64_t>() <= uint64_t{INT64_MAX});
  });
}
void Reader::operator()(const char* name, double& value, const char*) {
  document_->read(name, value, "a finite number",
                  [](const Json& j) { return j.is_number() && std::isfinite(j.get<double>()); });
}
void Reader::operator()(const char* name, std::string& value, const char*) {
  document_->read(name, value, "text", [](const Json& j) { return j.is_string(); });
}
void Reader::operator()(const char* name, std::vector<std::string>& value, const char*) {
  if (Json* one = document_->find(name); one && one->is_string()) *one = Json::array({*one});
  document_->read(name, value, "a list of texts", [](const Json& j) {
    return j.is_array() && std::all_of(j.begin(), j.end(), [](const Json& item) { return item.is_string(); });
  });
}

void Reader::ids(const char* name, std::vector<int64_t>& value) {
  Json* found = document_->find(name);
  if (!found) return;
  if (!found->is_array()) *found = Json::array({*found});
  const auto is_id = [](const Json& j) { return j.is_number_integer() && j >= -1 && j < (int64_t{1} << 31); };
  if (!std::all_of(found->begin(), found->end(), is_id)) document_->refuse(name, *found, "an id, or a list of ids");
  value = found->get<std::vector<int64_t>>();
}
void Reader::id_lists(const char* name, std::vector<std::vector<int64_t>>& value) {
  document_->read(name, value, "a list of lists of ids", [](const Json& j) {
    return j.is_array() && std::all_of(j.begin(), j.end(), [](const Json& list) {
             return list.is_array() && std::all_of(list.begin(), list.end(), [](const Json& id) {
                      return id.is_number_integer() && id >= 0 && id < (int64_t{1} << 31);
                    });
           });
  });
}
void Reader::numbers(const char* name, std::vector<double>& value) {
  document_->read(name, value, "a list of finite numbers", [](const Json& j) {
    return j.is_array() && std::all_of(j.begin(), j.end(), [](const Json& item) {
             return item.is_number() && std::isfinite(item.get<double>());
           });
  });
}
void Reader::numbered(const char* name, std::vector<std::string>& value) {
  const Json* found = document_->find(name);
  if (!found) return;
  static constexpr const char* expected = "labels by their numbers, such as {\"0\": \"negative\", \"1\": \"positive\"}";
  if (!found->is_object()) document_->refuse(name, *found, expected);
  std::vector<std::string> labels;
  for (size_t i = 0; i < found->size(); ++i) {
    const auto label = found->find(std::to_string(i));
    if (label == found->end() || !label->is_string()) document_->refuse(name, *found, expected);
    labels.push_back(label->get<std::string>());
  }
  value = labels;
}
void Reader::passed_over(std::initializer_list<const char*> names) {
  document_->known.insert(document_->known.end(), names.begin(), names.end());
}

void Reader::refused(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Json* found = document_->find(name);
    if (!found || *found == false || *found == 0) continue;
    throw Error(Error::unsupported, "{}: '{}': found {}, which is not known here, expected none", document_->where,
                name, Document::shown(*found));
  }
}

std::vector<std::string> Reader::unknown() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : document_->root.items()) {
    if (document_->is_known(key)) continue;
    if (!document_->holds_known(key) || !(value.is_object() || value.is_null())) {
      names.push_back(key);
      continue;
    }
    for (const auto& [inner, ignored] : value.items())
      if (!value.is_null() && !document_->is_known(key + "." + inner)) names.push_back(key + "." + inner);
  }
  return names;
}

void Reader::finish() const {
  if (const std::vector<std::string> names = unknown(); !names.empty())
    throw_unknown(fmt::format("key in {}", document_->where), names.front(), document_->known);
}

struct Writer::Entries {
  OrderedJson values = OrderedJson::object();
  std::vector<std::string> help;

  void add(std::string_view name, OrderedJson value, const char* text) {
    const size_t dot = name.find('.');
    OrderedJson& at = values[std::string(name.substr(0, dot))];
    if (at.is_null()) help.emplace_back(text);
    (dot == std::string_view::npos ? at : at[std::string(name.substr(dot + 1))]) = std::move(value);
  }
};

Writer::Writer() : entries_(new Entries) {}
Writer::~Writer() { delete entries_; }
void Writer::operator()(const char* name, bool& value, const char* help) { entries_->add(name, value, help); }
void Writer::operator()(const char* name, int64_t& value, const char* help) { entries_->add(name, value, help); }
void Writer::operator()(const char* name, double& value, const char* help) {
  require(std::isfinite(value), "'{}': found {}, expected a finite number", name, value);
  entries_->add(name, value, help);
}
void Writer::operator()(const char* name, std::string& value, const char* help) {
  check_utf8(value, fmt::format("'{}'", name));
  entries_->add(name, value, help);
}
void Writer::operator()(const char* name, std::vector<std::string>& value, const char* help) {
  for (const std::string& text : value) check_utf8(text, fmt::format("'{}'", name));
  entries_->add(name, value, help);
}

void Writer::ids(const char* name, std::vector<int64_t>& value) {
  if (value.size() == 1) return entries_->add(name, value[0], "");
  entries_->add(name, value.empty() ? OrderedJson() : OrderedJson(value), "");
}
void Writer::id_lists(const char* name, std::vector<std::vector<int64_t>>& value) { entries_->add(name, value, ""); }
void Writer::numbers(const char* name, std::vector<double>& value) { entries_->add(name, value, ""); }
void Writer::numbered(const char* name, std::vector<std::string>& value) {
  OrderedJson labels = OrderedJson::object();
  for (size_t i = 0; i < value.size(); ++i) {
    check_utf8(value[i], fmt::format("'{}'", name));
    labels[std::to_string(i)] = value[i];
  }
  entries_->add(name, std::move(labels), "");
}

std::string Writer::json() const { return entries_->values.dump(2) + "\n"; }

// JSON's scalars and flow lists are YAML too, which spares a second set of quoting rules.
std::string Writer::yaml() const {
  std::string text;
  size_t i = 0;
  for (const auto& [key, value] : entries_->values.items()) {
    text += fmt::format("# {}\n{}: {}\n", entries_->help[i++], key, value.dump());
  }
  return text;
}

}  // namespace fovea::detail

namespace fovea {

std::string yaml_scalar(const std::string& text) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.'; };
  const bool word = !text.empty() && text.find_first_not_of("0123456789-.") == 0;
  const bool safe = word && std::all_of(text.begin(), text.end(), plain) &&
                    detail::YamlConverter("")(YAML::Node(YAML::Load(text))) == nlohmann::ordered_json(text);
  return safe ? text : nlohmann::json(text).dump();
}

std::string yaml_to_json(std::string_view text, std::string_view where) {
  return detail::expect_object(detail::parse_yaml(text, where), where).dump();
}

}  // namespace fovea
