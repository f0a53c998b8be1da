// Objects of JSON: one a line, or all in one array.
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/datasets/dataset.h"
#include "fovea/data/text/lines.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

constexpr size_t largest_array = size_t{1} << 30;

// What a key's value is wrong with, or nothing.
std::string take_text(const Json& object, const std::string& key, std::string& into) {
  if (key.empty()) return {};
  const auto found = object.find(key);
  if (found == object.end()) return fmt::format("found no key '{}'", key);
  if (!found->is_string()) return fmt::format("found a {} under '{}', expected a text", found->type_name(), key);
  into = trim(found->get_ref<const std::string&>());
  return into.empty() ? fmt::format("found an empty text under '{}'", key) : std::string();
}

std::string take_label(const Json& object, const std::string& key, std::string& into) {
  const auto found = key.empty() ? object.end() : object.find(key);
  if (found == object.end() || !(found->is_number() || found->is_boolean())) return take_text(object, key, into);
  into = found->dump();
  return {};
}

std::string take_texts(const Json& object, const std::string& key, std::vector<std::string>& into) {
  if (key.empty()) return {};
  const auto found = object.find(key);
  if (found == object.end()) return fmt::format("found no key '{}'", key);
  for (const Json& item : found->is_array() ? *found : Json::array({nullptr})) {
    if (!item.is_string()) return fmt::format("'{}': expected a list of texts", key);
    into.push_back(item.get<std::string>());
  }
  return into.empty() ? fmt::format("found an empty list under '{}'", key) : std::string();
}

std::string take(const Json& object, const JsonKeys& keys, Example& example) {
  if (!object.is_object()) return "expected an object { … }";
  std::string wrong = take_text(object, keys.source, example.source);
  if (wrong.empty()) wrong = take_text(object, keys.target, example.target);
  if (wrong.empty()) wrong = take_label(object, keys.label, example.label);
  if (wrong.empty()) wrong = take_texts(object, keys.tokens, example.tokens);
  if (wrong.empty()) wrong = take_texts(object, keys.tags, example.tags);
  if (!wrong.empty() || keys.tags.empty()) return wrong;
  if (!keys.tokens.empty() && example.tokens.size() != example.tags.size()) {
    return fmt::format("found {} tokens and {} tags", example.tokens.size(), example.tags.size());
  }
  try {
    example.tags = to_iob2(example.tags);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

void add(const Json& object, const std::string& where, const JsonKeys& keys, Dataset& into) {
  Example example;
  const std::string wrong = take(object, keys, example);
  if (wrong.empty()) {
    into.add(example);
  } else {
    into.add_bad(where + ": " + wrong);
  }
}

void read_array(std::string text, Lines& lines, const std::string& path, const JsonKeys& keys, Dataset& into) {
  for (std::string line; lines.next(line);) {
    text += '\n' + line;
    if (text.size() > largest_array) {
      throw Error(Error::unsupported, "{}: found an array of more than {} MB; write an object a line instead", path,
                  largest_array >> 20);
    }
  }
  const Json array = parse_json(text, path);
  text = {};
  for (size_t i = 0; i < array.size(); ++i) add(array[i], fmt::format("{}: item {}", path, i), keys, into);
}

}  // namespace

void read_json_lines(const std::string& path, Dataset& into, const JsonKeys& keys) {
  const Reading reading(into, path);
  Lines lines(path);
  bool first = true;
  for (std::string line; lines.next(line);) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (std::exchange(first, false) && text[0] == '[') {
      read_array(line, lines, path, keys, into);
      break;
    }
    Json object;
    try {
      object = parse_json(text, lines.where());
    } catch (const Error& e) {
      into.add_bad(e.what());
      continue;
    }
    add(object, lines.where(), keys, into);
  }
  reading.finish("a JSON object on each line");
}

}  // namespace fovea
