#include "fovea/base/fields.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include "fovea/base/catalogue.h"
#include "fovea/base/error.h"

namespace fovea::detail {
namespace {

using Json = nlohmann::ordered_json;

// YAML's plain scalars as the types that JSON knows; whatever is quoted stays text.
Json to_json(const YAML::Node& node, int depth, std::string_view where) {
  require(depth < 100, "{}: nested more than 100 deep", where);
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto& entry : node) object[entry.first.as<std::string>()] = to_json(entry.second, depth + 1, where);
    return object;
  }
  if (node.IsSequence()) {
    Json array = Json::array();
    for (const YAML::Node& item : node) array.push_back(to_json(item, depth + 1, where));
    return array;
  }
  if (!node.IsScalar()) return nullptr;
  if (node.Tag() == "!") return node.Scalar();
  if (bool value; YAML::convert<bool>::decode(node, value)) return value;
  if (int64_t value; YAML::convert<int64_t>::decode(node, value)) return value;
  if (double value; YAML::convert<double>::decode(node, value)) return value;
  return node.Scalar();
}

Json parse(Reader::Syntax syntax, std::string_view text, std::string_view where) {
  Json root;
  try {
    if (syntax == Reader::json)
      root = Json::parse(text);
    else
      root = to_json(YAML::Load(std::string(text)), 0, where);
  } catch (const Json::exception& e) {
    throw Error(Error::corrupt, "{}: not valid JSON: {}", where, e.what());
  } catch (const YAML::Exception& e) {
    throw Error(Error::corrupt, "{}:{}: not valid YAML: {}", where, e.mark.line + 1, e.msg);
  }
  if (root.is_null()) root = Json::object();
  if (!root.is_object()) throw Error(Error::corrupt, "{}: found {}, expected keys and values", where, root.type_name());
  return root;
}

}  // namespace

class Document {
 public:
  Json root;
  std::string where;
  std::vector<std::string> known;

  template <class Value, class Accept>
  void read(const char* name, Value& value, const char* expected, Accept accept) {
    known.emplace_back(name);
    auto found = root.find(name);
    if (found == root.end()) return;
    if (!accept(*found)) {
      throw Error(Error::invalid, "{}: '{}': found {}, expected {}", where, name, found->dump(), expected);
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
  document_->read(name, value, "a whole number", [](const Json& j) { return j.is_number_integer(); });
}
void Reader::operator()(const char* name, double& value, const char*) {
  document_->read(name, value, "a number", [](const Json& j) { return j.is_number(); });
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
  Json values = Json::object();
  std::vector<std::string> help;

  void add(const char* name, Json value, const char* text) {
    values[name] = std::move(value);
    help.emplace_back(text);
  }
};

Writer::Writer() : entries_(new Entries) {}
Writer::~Writer() { delete entries_; }
void Writer::operator()(const char* name, bool& value, const char* help) { entries_->add(name, value, help); }
void Writer::operator()(const char* name, int64_t& value, const char* help) { entries_->add(name, value, help); }
void Writer::operator()(const char* name, double& value, const char* help) { entries_->add(name, value, help); }
void Writer::operator()(const char* name, std::string& value, const char* help) { entries_->add(name, value, help); }
void Writer::operator()(const char* name, std::vector<std::string>& value, const char* help) {
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

std::string yaml_to_json(std::string_view text, std::string_view where) {
  return detail::parse(detail::Reader::yaml, text, where).dump();
}

}  // namespace fovea
