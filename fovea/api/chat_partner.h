// A conversation with a language model that was taught to have one. What was said stays read: each turn costs only what is new.
//
//   fovea::ChatPartner partner("SmolLM2-135M-Instruct.Q4_1.gguf", {.system = "You are brief."});
//   partner.say("What is the capital of France?");                     // the answer's text; options as TextGenerator has them
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fovea/api/text_generator.h"

namespace fovea {

struct ChatPartnerOptions {
  std::string system = {};  // what the model is told before the conversation
  ModelOptions model = {};
};

class ChatPartner final {
 public:
  // An Error if the model's folder has no template for conversations.
  explicit ChatPartner(const std::string& model, const ChatPartnerOptions& = {});
  ChatPartner(ChatPartner&&) noexcept;
  ~ChatPartner();

  std::string say(const std::string& text, const TextGeneratorOptions& = {});
  std::vector<std::pair<std::string, std::string>> messages() const;  // who ("system", "user", "assistant"), and what
  void clear();                                                       // but for what the system says

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fovea
