#include "fovea/data/text/pretrained/special_tokens.h"

#include <algorithm>
#include <charconv>

#include "fovea/base/json.h"
#include "fovea/data/text/pretrained/json_object.h"

namespace fovea {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* roles[] = {"bos", "eos", "unk", "sep", "pad", "cls", "mask"};

// "[MASK]", or {"content": "[MASK]", …}
std::optional<std::string> name_of(const Json& json, const std::string& where) {
  if (json.is_null()) return std::nullopt;
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object()) return JsonObject(json, where).text("content");
  throw Error(Error::corrupt, "{}: found {}, expected a token", where, json.type_name());
}

void read_names(const JsonObject& json, SpecialTokens& into) {
  for (const char* role : roles) {
    const std::string key = std::string(role) + "_token";
    if (!json.has(key.c_str())) continue;
    if (const auto name = name_of(json.at(key.c_str()), json.where() + ": " + key); name && !name->empty())
      into.names.emplace(role, *name);
  }
}

AddedToken token_of(int64_t id, const JsonObject& json) {
  const bool special = json.flag("special", false);
  return {.id = id,
          .content = json.text("content"),
          .single_word = json.flag("single_word", false),
          .lstrip = json.flag("lstrip", false),
          .rstrip = json.flag("rstrip", false),
          .normalized = json.flag("normalized", !special),
          .special = special};
}

std::optional<bool> flag_of(const JsonObject& json, const char* key) {
  if (!json.has(key)) return std::nullopt;
  return json.flag(key);
}

void read_config(const JsonObject& json, SpecialTokens& into) {
  read_names(json, into);
  into.tokenizer_class = json.text("tokenizer_class", "");
  if (into.tokenizer_class.ends_with("Fast")) into.tokenizer_class.resize(into.tokenizer_class.size() - 4);
  into.do_lower_case = flag_of(json, "do_lower_case");
  into.tokenize_chinese_chars = flag_of(json, "tokenize_chinese_chars");
  into.strip_accents = flag_of(json, "strip_accents");
  into.add_prefix_space = flag_of(json, "add_prefix_space");
  into.add_bos = flag_of(json, "add_bos_token");
  into.add_eos = flag_of(json, "add_eos_token");
  if (!json.has("added_tokens_decoder")) return;
  const JsonObject added = json.object("added_tokens_decoder");
  for (const auto& [key, token] : json.at("added_tokens_decoder").items()) {
    int64_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc() || end != key.data() + key.size() || id < 0 || id > INT32_MAX)
      throw Error(Error::corrupt, "{}: found '{}', expected an id", added.where(), printable(key));
    into.added.push_back(token_of(id, JsonObject(token, added.where())));
  }
  std::sort(into.added.begin(), into.added.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
}

void set_by_usual_names(PipelineParts& parts) {
  const auto named = [&](std::initializer_list<std::string_view> names) -> int64_t {
    for (std::string_view name : names) {
      for (const AddedToken& token : parts.added)
        if (token.special && token.content == name) return token.id;
    }
    return -1;
  };
  const auto set = [&](int64_t& id, std::initializer_list<std::string_view> names) {
    if (id < 0) id = named(names);
  };
  SpecialIds& s = parts.special;
  set(s.bos, {"<s>", "[CLS]", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|startoftranscript|>"});
  set(s.eos, {"</s>", "[SEP]", "<eos>", "<|end_of_text|>", "<|endoftext|>", "<|im_end|>"});
  set(s.pad, {"<pad>", "[PAD]", "<|padding|>", "<|finetune_right_pad_id|>"});
  set(s.mask, {"<mask>", "[MASK]"});
  set(s.unk, {"<unk>", "[UNK]"});
}

}  // namespace

SpecialTokens read_special_tokens(const fs::path& folder) {
  SpecialTokens special;
  const auto read = [&](const char* name, auto use) {
    if (!path_exists(folder / name)) return;
    const MappedFile bytes(folder / name);
    const std::string where = (folder / name).string();
    const Json json = parse_json(bytes.text(), where);
    use(JsonObject(json, where), json);
    special.files.emplace(name, bytes);
  };
  read("tokenizer_config.json", [&](const JsonObject& json, const Json&) { read_config(json, special); });
  read("special_tokens_map.json", [&](const JsonObject& json, const Json&) { read_names(json, special); });
  read("added_tokens.json", [&](const JsonObject& where, const Json& json) {
    for (const auto& [content, id] : json.items()) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() > INT32_MAX)
        throw Error(Error::corrupt, "{}: '{}': expected an id", where.where(), printable(content));
      const auto same = [&](const AddedToken& t) { return t.content == content; };
      if (std::none_of(special.added.begin(), special.added.end(), same))
        special.added.push_back({.id = id.get<int64_t>(), .content = content});
    }
  });
  return special;
}

void add_named_token(PipelineParts& parts, const std::string& name, bool lstrip) {
  int64_t next = parts.model->vocabulary().size();
  for (AddedToken& token : parts.added) {
    if (token.content == name) {
      token.special = true;
      return;
    }
    next = std::max(next, token.id + 1);
  }
  const int64_t id = parts.model->vocabulary().id_of(name);
  parts.added.push_back({.id = id < 0 ? next : id, .content = name, .lstrip = lstrip, .special = true});
}

void add_special_tokens(PipelineParts& parts, const SpecialTokens& special) {
  for (const auto& [name, bytes] : special.files) parts.files.emplace(name, bytes);
  for (const AddedToken& token : special.added) {
    const auto same = [&](const AddedToken& t) { return t.content == token.content; };
    if (std::none_of(parts.added.begin(), parts.added.end(), same)) parts.added.push_back(token);
  }
  const auto id = [&](const char* role) -> int64_t {
    const auto name = special.names.find(role);
    if (name == special.names.end()) return -1;
    for (const AddedToken& token : parts.added)
      if (token.content == name->second) return token.id;
    return parts.model->vocabulary().id_of(name->second);
  };
  const auto first = [](int64_t a, int64_t b) { return a >= 0 ? a : b; };
  SpecialIds& s = parts.special;
  s.bos = first(s.bos, first(id("bos"), id("cls")));
  s.eos = first(s.eos, first(id("eos"), id("sep")));
  s.unk = first(s.unk, first(parts.model->unknown(), id("unk")));
  s.pad = first(s.pad, id("pad"));
  s.mask = first(s.mask, id("mask"));
  if (special.names.empty()) set_by_usual_names(parts);
}

}  // namespace fovea
