// `fovea chat`: a conversation with a language model in the terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/interrupt.h"
#include "cli/verb.h"
#include "cli/writing.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/generate/chat.h"

namespace fovea::verbs {
namespace {

struct ChatOptions : WritingOptions {
  std::string system;

  using WritingOptions::WritingOptions;
  void fields(Fields& f) {
    f("system", system, "what the model is told before the conversation");
    WritingOptions::fields(f);
  }
};

constexpr const char* commands =
    "/help        this text\n"
    "/save FILE   write the conversation into a file\n"
    "/clear       begin anew\n"
    "/exit        end; Ctrl-D does, too. Ctrl-C ends an answer.\n";

std::string written(const Chat& chat) {
  std::string text;
  for (const Message& m : chat.messages()) text += fmt::format("{}: {}\n\n", m.role, m.content);
  return text;
}

// False: the conversation is over.
bool obey(const std::string& line, Chat& chat) {
  if (line == "/exit" || line == "/quit") return false;
  if (line == "/clear") {
    chat.clear();
  } else if (line.starts_with("/save ") && line.size() > 6) {
    write_text(line.substr(6), written(chat));
  } else {
    if (line != "/help") fmt::print(stderr, "unknown command {}\n", printable(line));
    fmt::print(stderr, "{}", commands);
  }
  return true;
}

void answer(const std::string& line, Chat& chat, const ChatOptions& o) {
  CtrlC ctrl_c;
  chat.say(line, o.generation,
           {.stops = o.stop,
            .on_text =
                [](std::string_view more) {
                  fmt::print("{}", more);
                  std::fflush(stdout);
                },
            .interrupted = [&] { return ctrl_c.pressed(); }});
  fmt::print("\n");
  std::fflush(stdout);
}

void run(const ChatOptions& o) {
  const Pretrained model = o.load();
  Chat chat(model, o.system);
  const bool person = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (person && !o.quiet) fmt::print(stderr, "{}\n", commands);
  for (std::string line;;) {
    if (person) fmt::print(stderr, "> ");
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    try {
      if (line.starts_with("/")) {
        if (!obey(line, chat)) break;
      } else {
        answer(line, chat, o);
      }
    } catch (const Error& e) {
      if (!person) throw;
      fmt::print(stderr, "{}\n", printable(e.what()));
    }
  }
}

}  // namespace

extern const Verb chat = {
    .name = "chat",
    .group = "use",
    .help = "talk with a language model",
    .examples =
        "fovea chat -m my-language-model < questions.txt\n"
        "echo \"Who sang about the sea?\" | fovea chat -m my-language-model --system \"Be brief.\"",
    .run = [](const ChatOptions& o) { run(o); }};

}  // namespace fovea::verbs
