#include "fovea/api/chat_partner.h"

#include "fovea/generate/chat.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct ChatPartner::Loaded {
  Loaded(Pretrained p, GenerationConfig c, const std::string& system)
      : model(std::move(p)), config(std::move(c)), chat(model, system) {}
  Pretrained model;
  GenerationConfig config;
  Chat chat;
};

ChatPartner::ChatPartner(const std::string& model, const ChatPartnerOptions& o) {
  const std::filesystem::path folder = find_model(model, "", o.model.zoo);
  loaded_ = std::make_unique<Loaded>(load_pretrained(folder, {.precision = o.model.weights}),
                                     read_generation_config(folder), o.system);
}

ChatPartner::ChatPartner(ChatPartner&&) noexcept = default;
ChatPartner::~ChatPartner() = default;

std::string ChatPartner::say(const std::string& text, const TextGeneratorOptions& o) {
  return loaded_->chat
      .say(text, with_options(loaded_->config, o),
           {.stops = o.stops, .on_text = o.on_text, .interrupted = o.interrupted})
      .text;
}

std::vector<std::pair<std::string, std::string>> ChatPartner::messages() const {
  std::vector<std::pair<std::string, std::string>> messages;
  for (const Message& m : loaded_->chat.messages()) messages.emplace_back(m.role, m.content);
  return messages;
}

void ChatPartner::clear() { loaded_->chat.clear(); }

}  // namespace fovea
