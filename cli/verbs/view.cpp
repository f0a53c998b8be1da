// `fovea view`: a page in the browser on which one sees what a model attends to.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <future>
#include <optional>
#include <thread>

#include "cli/answers.h"
#include "cli/verb.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/base/threads.h"
#include "fovea/explain/trace_file.h"
#include "fovea/models/zoo.h"
#include "fovea/serve/server.h"

extern char** environ;

namespace fovea::verbs {
namespace {

struct ViewVerbOptions {
  static constexpr const char* positional = "text";
  std::string text = "The bank approved the loan.", input, model = "en-de", weights, trace;
  std::vector<std::string> more;
  int64_t port = 0;
  bool stay = false, once = false;

  void fields(Fields& f) {
    f("text", text, "what is read first; of a model that sees or hears the file of a picture or a recording");
    f("input", input, "a file whose text is read first, instead");
    f("model", model, "the folder of a model, or the name of one that ships");
    f("more", more, "further models that the page may choose, beside those that ship: folders or files");
    f("weights", weights, weights_help);
    f("trace", trace, "a file that --trace of another verb wrote: look at what it has, instead of a text");
    f("port", port, "of this machine's own address, 127.0.0.1; 0: any that is free");
    f("stay", stay, "print the address and open no browser");
    f("once", once, "answer one text, print the address and end: to see whether it works");
  }
};

// The user's browser, if there is a display for it.
bool open_browser(const std::string& address) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return false;
  std::string program = "xdg-open", page = address;
  char* arguments[] = {program.data(), page.data(), nullptr};
  pid_t child = 0;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
  posix_spawn_file_actions_adddup2(&quiet, STDOUT_FILENO, STDERR_FILENO);
  const int failed = posix_spawnp(&child, "xdg-open", &quiet, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  return failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// What is shown first: a text that the model reads, or what a file has.
struct First {
  std::string model, text;
  std::optional<Recording> stored = {};

  explicit First(const ViewVerbOptions& o) : model(o.model), text(o.text) {
    if (!o.trace.empty()) {
      stored = TraceFile(o.trace).recording();
      if (stored->model.empty()) stored->model = o.trace;
      model = stored->model, text = stored->text;
      return;
    }
    if (!o.input.empty()) text = read_text(o.input);
    check_utf8(text, o.input.empty() ? "the text" : o.input);
  }
  // A browser loads the page meanwhile: beside a short text and a model of the box, which are small, it has a core of its own.
  std::string read(ViewSession& session) {
    if (stored) return session.open(std::move(*stored));
    const int all = threads();
    const auto is_this = [&](const ShippedModel& shipped) { return shipped.name == model; };
    if (text.size() < 1000 && std::ranges::any_of(shipped_models(), is_this)) set_threads(std::max(1, all - 1));
    std::string told = session.run(model, text);
    set_threads(all);
    return told;
  }
};

// What ends the page: while a thread has them blocked they wait for sigwait().
class Ends final {
 public:
  Ends() { sigemptyset(&set_), sigaddset(&set_, SIGINT), sigaddset(&set_, SIGTERM), sigaddset(&set_, SIGHUP); }
  void block(bool yes) const { pthread_sigmask(yes ? SIG_BLOCK : SIG_UNBLOCK, &set_, nullptr); }
  void wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
  }

 private:
  sigset_t set_;
};

void run(const ViewVerbOptions& o) {
  require(0 <= o.port && o.port < 65536, "--port: found {}, expected 0 to 65535", o.port);
  if (o.trace.empty()) find_model(o.model);
  ViewSession::Options session_options = {.load = load_as(o.weights)};
  if (o.trace.empty()) session_options.models.push_back(o.model);
  std::vector<std::string> others = o.more;  // of the user's files the page reaches those that are named alone
  for (const std::string& model : others) find_model(model);
  for (const ShippedModel& shipped : shipped_models()) others.push_back(shipped.name);
  for (const std::string& model : others)
    if (std::ranges::find(session_options.models, model) == session_options.models.end())
      session_options.models.push_back(model);
  session_options.files = {o.text};
  First first(o);
  ViewSession session(std::move(session_options));
  std::packaged_task<std::string()> read([&] { return first.read(session); });
  const std::shared_future<std::string> told = read.get_future().share();
  PageServer server(session, {first.model, first.text, told, static_cast<int>(o.port)});
  if (o.once) {
    read(), told.get();
    fmt::print("{}\n", server.address());
    return;
  }
  const Ends ends;
  ends.block(true);  // in the threads that begin here; in this one from when all is there
  const std::jthread reading(std::move(read));
  const std::jthread answering([&](std::stop_token end) {
    const std::stop_callback stop(end, [&] { server.stop(); });
    server.listen();
  });
  ends.block(false);
  fmt::print("{}\n", server.address());
  std::fflush(stdout);
  if (o.stay || !open_browser(server.address())) fmt::print(stderr, "open this address in a browser; Ctrl-C ends it\n");
  told.get();
  ends.block(true);
  ends.wait();
}

}  // namespace

extern const Verb view = {.name = "view",
                          .group = "look inside",
                          .help = "see in the browser what a model attends to: words, pictures, heads, matrices",
                          .examples =
                              "fovea view -m en-de \"The bank approved the loan.\"\n"
                              "fovea view -m my-classifier --stay \"A wonderful film.\"\n"
                              "fovea view -m my-model --more my-classifier --stay \"The sailor wrote a letter.\"\n"
                              "fovea view -m my-captioner picture.png\n"
                              "fovea view -m my-listener speech.wav\n"
                              "fovea view --trace seen.safetensors",
                          .run = [](const ViewVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
