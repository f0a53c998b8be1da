#include "fovea/data/text/chat_template.h"

#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "fovea/data/text/jinja/lexer.h"
#include "fovea/data/text/jinja/parser.h"
#include "fovea/data/text/jinja/renderer.h"
#include "fovea/formats/gguf.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

jinja::Value value_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
      return json.get<int64_t>();
    case Json::value_t::number_unsigned:
      if (json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return json.get<double>();
      return json.get<int64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string: {
      const auto& text = json.get_ref<const std::string&>();
      check_utf8(text, "chat template's variables");
      return text;
    }
    case Json::value_t::array: {
      std::vector<jinja::Value> items;
      for (const Json& item : json) items.push_back(value_of(item));
      return jinja::make_list(std::move(items));
    }
    case Json::value_t::object: {
      std::vector<std::pair<jinja::Value, jinja::Value>> pairs;
      for (const auto& [key, item] : json.items()) {
        check_utf8(key, "chat template's variables");
        pairs.emplace_back(key, value_of(item));
      }
      return jinja::make_dict(std::move(pairs));
    }
    default:
      return jinja::None();
  }
}

std::string template_in(const nlohmann::json& config, const fs::path& file) {
  const auto found = config.is_object() ? config.find("chat_template") : config.end();
  if (!config.is_object() || found == config.end() || found->is_null()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_array()) {
    for (const nlohmann::json& one : *found) {
      if (!one.is_object() || one.value("name", nlohmann::json()) != "default") continue;
      if (const auto text = one.find("template"); text != one.end() && text->is_string())
        return text->get<std::string>();
    }
    return "";
  }
  throw Error(Error::corrupt, "{}: found a {} as chat_template, expected a text or a list of templates with names",
              file.string(), found->type_name());
}

}  // namespace

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm result{};
  localtime_r(&now, &result);
  return result;
}

struct ChatTemplate::Tree {
  jinja::Body body;
};

ChatTemplate::ChatTemplate(std::string_view source, std::string_view where) : where_(where) {
  check_utf8(source, where);
  try {
    tree_ = std::make_unique<const Tree>(Tree{jinja::parse(source)});
  } catch (const jinja::SyntaxFault& fault) {
    throw Error(fault.kind(), "{}:{}: {}", where_, fault.line(), fault.what());
  }
}

ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

std::string ChatTemplate::operator()(const Json& variables, const Options& options) const {
  require(variables.is_object(), "{}: found a {} as variables of the template, expected an object", where_,
          variables.type_name());
  std::vector<std::pair<std::string, jinja::Value>> values;
  for (const auto& [name, value] : variables.items()) values.emplace_back(name, value_of(value));
  jinja::Renderer renderer(tree_->body, std::move(values), {options.steps, options.depth, options.clock});
  try {
    return renderer.run();
  } catch (const jinja::Fault& fault) {
    throw Error(fault.kind(), "{}:{}: {}", where_, renderer.line(), fault.what());
  }
}

std::string ChatTemplate::operator()(const Json& variables) const { return (*this)(variables, Options()); }

std::string find_chat_template(const fs::path& folder) {
  if (folder.extension() == ".gguf" && !is_folder(folder)) return Gguf(folder).text("tokenizer.chat_template", "");
  if (const fs::path file = folder / "chat_template.jinja"; path_exists(file)) return read_text(file);
  for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
    const fs::path file = folder / name;
    if (!path_exists(file)) continue;
    // tokenizer_config.json may list thousands of tokens, so its keys come without their order.
    if (std::string text = template_in(parse_json(read_text(file), file.string()), file); !text.empty()) return text;
  }
  return "";
}

}  // namespace fovea
