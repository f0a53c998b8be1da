// `fovea chat`: a conversation with a language model in the terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/interrupt.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "cli/writing.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/generate/chat.h"

namespace fovea::verbs {
namespace {

struct ChatOptions : WritingOptions {
  std::string system, trace;

  using WritingOptions::WritingOptions;
  void fields(Fields& f) {
    f("system", system, "what the model is told before the conversation");
    f("trace", trace,
      "write what the model saw into this file, of one question and its answer: safetensors with their words and all "
      "weights");
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

void answer(const std::string& line, Chat& chat, const ChatOptions& o, const Pretrained& model, Tracing& tracing) {
  require(o.trace.empty() || chat.cached() == 0, "--trace: found several questions, expected one");
  CtrlC ctrl_c;
  const std::string prompt = chat.prompt(line);
  WriteOptions options = {.stops = o.stop,
                          .on_text =
                              [](std::string_view more) {
                                fmt::print("{}", more);
                                std::fflush(stdout);
                              },
                          .interrupted = [&] { return ctrl_c.pressed(); }};
  options.trace = tracing.begin({prompt});
  const Continuation c = chat.say(line, o.generation, options);
  fmt::print("\n");
  std::fflush(stdout);
  if (Recorder* r = tracing.recorder()) {
    r->continued(model.tokenizer->encode(prompt).ids, c);
    tracing.finish(c.text);
  }
}

void run(const ChatOptions& o) {
  const Pretrained model = o.load();
  Chat chat(model, o.system);
  Tracing tracing(o.trace, model);
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
        answer(line, chat, o, model, tracing);
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
        "echo \"Who sang about the sea?\" | fovea chat -m my-language-model --system \"Be brief.\"\n"
        "echo \"Who sang about the sea?\" | fovea chat -m my-language-model --trace asked.safetensors",
    .run = [](const ChatOptions& o) { run(o); }};

}  // namespace fovea::verbs
