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

  template <class Value, class Accept>
  void read(const char* name, Value& value, const char* expected, Accept accept) {
    known.emplace_back(name);
    auto found = root.find(name);
    if (found == root.end()) return;
    if (!accept(*found)) {
      throw Error(Error::invalid, "{}: '{}': found {}, expected {}", where, name, shown(*found), expected);
    }
    value = found->template get<Value>();
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
  if (const auto one = document_->root.find(name); one != document_->root.end() && one->is_string())
    *one = Json::array({*one});
  document_->read(name, value, "a list of texts", [](const Json& j) {
    return j.is_array() && std::all_of(j.begin(), j.end(), [](const Json& item) { return item.is_string(); });
  });
}

void Reader::finish() const {
  for (const auto& [key, value] : document_->root.items()) {
    if (std::find(document_->known.begin(), document_->known.end(), key) == document_->known.end()) {
      throw_unknown(fmt::format("key in {}", document_->where), key, document_->known);
    }
  }
}

struct Writer::Entries {
  OrderedJson values = OrderedJson::object();
  std::vector<std::string> help;

  void add(const char* name, OrderedJson value, const char* text) {
    values[name] = std::move(value);
    help.emplace_back(text);
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
