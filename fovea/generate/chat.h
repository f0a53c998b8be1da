// A conversation with a language model that was taught to have one: its template writes the messages, what was read stays read.
//
//   Chat chat(model, "You are brief.");
//   Continuation answer = chat.say("What is the capital of France?", config, {.on_text = print});
#pragma once

#include <string>
#include <vector>

#include "fovea/data/text/chat_template.h"
#include "fovea/generate/conversation.h"
#include "fovea/models/pretrained.h"

namespace fovea {

struct Message {
  std::string role, content;  // "system", "user" or "assistant"
};

class Chat final {
 public:
  // An Error if the folder has no template. The model is to outlive it.
  explicit Chat(const Pretrained& model, const std::string& system = "");

  Continuation say(const std::string& text, const GenerationConfig&, const WriteOptions& = {});
  const std::vector<Message>& messages() const { return messages_; }
  void clear();  // but for what the system says
  // What the model reads, as the template writes the messages, up to where the answer begins; behind them this one, if there is one.
  std::string prompt(const std::string& said = "") const;
  int64_t cached() const { return conversation_.cached(); }

 private:
  const Pretrained& model_;
  ChatTemplate template_;
  Conversation conversation_;
  std::string system_;
  std::vector<Message> messages_;
};

}  // namespace fovea
