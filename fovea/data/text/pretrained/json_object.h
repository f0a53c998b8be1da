// An object of a JSON file from outside, whose members are asked for by name and type.
//
//   JsonObject model(json["model"], "tokenizer.json: model");
//   const bool fuse = model.flag("fuse_unk", false);   // an Error if it is there and no truth value
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fovea/base/error.h"

namespace fovea {

class JsonObject final {
 public:
  JsonObject(const nlohmann::json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw Error(Error::corrupt, "{}: found {}, expected an object", where_, json.type_name());
  }

  const std::string& where() const { return where_; }
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  const nlohmann::json& at(const char* key) const {
    if (!has(key)) throw Error(Error::corrupt, "{}: found no '{}'", where_, key);
    return json_[key];
  }
  JsonObject object(const char* key) const { return {at(key), where_ + ": " + key}; }

  std::string text(const char* key) const {
    if (!at(key).is_string()) fail(key, "a text");
    return at(key).get<std::string>();
  }
  std::string text(const char* key, std::string_view otherwise) const {
    return has(key) ? text(key) : std::string(otherwise);
  }
  bool flag(const char* key) const {
    if (!at(key).is_boolean()) fail(key, "true or false");
    return at(key).get<bool>();
  }
  bool flag(const char* key, bool otherwise) const { return has(key) ? flag(key) : otherwise; }
  int64_t number(const char* key) const {
    if (!at(key).is_number_integer() || (at(key).is_number_unsigned() && at(key).get<uint64_t>() > INT32_MAX))
      fail(key, "a whole number");
    return at(key).get<int64_t>();
  }
  int64_t number(const char* key, int64_t otherwise) const { return has(key) ? number(key) : otherwise; }
  const nlohmann::json& list(const char* key) const {
    if (!at(key).is_array()) fail(key, "a list");
    return at(key);
  }

  [[noreturn]] void fail(const char* key, std::string_view expected) const {
    throw Error(Error::corrupt, "{}: '{}': found {}, expected {}", where_, key, at(key).type_name(), expected);
  }

 private:
  const nlohmann::json& json_;
  std::string where_;
};

}  // namespace fovea
