#include "fovea/generate/chat.h"

#include <nlohmann/json.hpp>

namespace fovea {
namespace {

std::string template_of(const std::filesystem::path& folder) {
  std::string found = find_chat_template(folder);
  if (found.empty())
    throw Error(Error::unsupported,
                "{}: found no chat template, expected chat_template.jinja or one in tokenizer_config.json; a model "
                "that was not "
                "taught to chat goes on with a text: fovea generate",
                folder.string());
  return found;
}

}  // namespace

Chat::Chat(const Pretrained& model, const std::string& system)
    : model_(model),
      template_(template_of(model.folder), model.folder.string()),
      conversation_(model.as<Generator>(), *model.tokenizer),
      system_(system) {
  clear();
}

void Chat::clear() {
  messages_.clear();
  if (!system_.empty()) messages_.push_back({"system", system_});
}

std::string Chat::prompt(const std::string& said) const {
  nlohmann::ordered_json variables = {{"messages", nlohmann::ordered_json::array()}, {"add_generation_prompt", true}};
  for (const Message& m : messages_) variables["messages"].push_back({{"role", m.role}, {"content", m.content}});
  if (!said.empty()) variables["messages"].push_back({{"role", "user"}, {"content", said}});
  const SpecialIds special = model_.as<Generator>().special_ids();
  const int64_t size = model_.tokenizer->size();
  const auto spelled = [&](int64_t id) { return 0 <= id && id < size ? model_.tokenizer->piece(id) : std::string(); };
  variables["bos_token"] = spelled(special.bos);
  variables["eos_token"] = spelled(special.eos);
  variables["pad_token"] = spelled(special.pad);
  return template_(variables);
}

Continuation Chat::say(const std::string& text, const GenerationConfig& config, const WriteOptions& options) {
  messages_.push_back({"user", text});
  try {
    conversation_.become(model_.tokenizer->encode(prompt()).ids);
    Continuation answer = conversation_.write(config, options);
    messages_.push_back({"assistant", answer.text});
    return answer;
  } catch (...) {
    messages_.pop_back();
    throw;
  }
}

}  // namespace fovea
