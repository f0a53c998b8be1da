// How a model wants a conversation written: the Jinja template that comes with it, run as transformers runs it (Jinja2's immutable
// sandbox with trim_blocks, lstrip_blocks, loop controls and {% generation %}, its tojson, raise_exception and strftime_now).
//
//   ChatTemplate chat(find_chat_template(folder), folder);
//   std::string prompt = chat(parse_json<nlohmann::ordered_json>(R"({"messages": […], "add_generation_prompt": true})", "request"));
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fovea {

std::tm local_time();  // now

class ChatTemplate final {
 public:
  // A template is a stranger's program: it may take so many steps (nodes, items, 16 bytes of text) and be nested so deep.
  struct Options {
    int64_t steps = 20'000'000;
    int depth = 400;
    std::function<std::tm()> clock = local_time;  // for strftime_now
  };

  // A syntax error is an Error that names `where` and the line.
  ChatTemplate(std::string_view source, std::string_view where);
  ChatTemplate(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // The variables are an object, with its keys in order: messages, tools, documents, add_generation_prompt, bos_token, eos_token, …
  // What the template raises, and whatever goes wrong in it, is an Error of kind invalid (unsupported for what is not here).
  std::string operator()(const nlohmann::ordered_json& variables, const Options& options) const;
  std::string operator()(const nlohmann::ordered_json& variables) const;

 private:
  struct Tree;
  std::string where_;
  std::unique_ptr<const Tree> tree_;
};

// The template of a model's folder: chat_template.jinja, chat_template.json, or the one in tokenizer_config.json (of several the
// one named "default"). Empty if there is none.
std::string find_chat_template(const std::filesystem::path& folder);

}  // namespace fovea
