// A program that is ended while it writes leaves no file behind; a conversation goes on when an answer is ended.
#include "cli/interrupt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "cli/example_folder.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Interrupt, RemovesWhatItWasToldAndEndsAsEver) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const fs::path folder = fs::path(testing::TempDir()) / "fovea_interrupt";
  fs::create_directories(folder);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    write_text(folder / "a.part-1", "half");
    EXPECT_EXIT(
        {
          remove_at_interrupt("");
          remove_at_interrupt(folder / "a.part-1");
          raise(signal);
        },
        testing::KilledBySignal(signal), "");
    EXPECT_TRUE(names_in(folder).empty());
  }
  fs::remove_all(folder);
}

// It waits for its second line while the first one's answer is in the file that it writes.
TEST(Interrupt, InTheMiddleOfWritingLeavesNothing) {
  const ExampleFolder folder("interrupt");
  ASSERT_EQ(mkfifo((folder / "in").c_str(), 0600), 0);
  const std::vector<std::string> before = names_in(folder.path());
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int in = open((folder / "in").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(write(in, "The sea.\n", 9), 9);
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder.path().c_str()) == 0)
        execl(test_program, test_program, "translate", "-m", "my-model", "-i", "in", "-o", "out.txt", "--svg", "a.svg",
              static_cast<char*>(nullptr));
      _exit(127);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(child, signal);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    close(in);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(names_in(folder.path()), before) << signal;
  }
}

// Reads what a program in a terminal writes until it is enough, or for some seconds.
bool read_until(int terminal, std::string& seen, const std::function<bool()>& enough) {
  for (int i = 0; i < 3000 && !enough(); ++i) {
    pollfd ready = {terminal, POLLIN, 0};
    if (poll(&ready, 1, 10) <= 0) continue;
    char buffer[256];
    const ssize_t count = read(terminal, buffer, sizeof buffer);
    if (count <= 0) break;
    seen.append(buffer, static_cast<size_t>(count));
  }
  return enough();
}

// The model would write a thousand tokens and more; after Ctrl-C the next line is answered.
TEST(Interrupt, CtrlCEndsAnAnswerAndNotTheConversation) {
  const ExampleFolder folder("interrupt_chat");
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    if (chdir(folder.path().c_str()) == 0)
      execl(test_program, test_program, "chat", "-m", "my-language-model", "--min-length", "1900", "--max-length",
            "1900", static_cast<char*>(nullptr));
    _exit(127);
  }
  const auto type = [&](const std::string& keys) {
    ASSERT_EQ(write(terminal, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  };
  std::string seen;
  const auto shows = [&](const std::string& wanted) {
    return read_until(terminal, seen, [&] { return seen.find(wanted) != seen.npos; });
  };
  ASSERT_TRUE(shows("> ")) << seen;
  seen.clear();
  type("Who sang?\n");
  ASSERT_TRUE(shows("Who sang?\r\n")) << seen;
  ASSERT_TRUE(read_until(terminal, seen, [&] { return seen.size() > 30; })) << seen;
  EXPECT_EQ(seen.find("\r\n> "), seen.npos) << "it was over before Ctrl-C: " << seen;
  type("\x03");
  ASSERT_TRUE(shows("\r\n> ")) << seen;
  seen.clear();
  type("/help\n");
  ASSERT_TRUE(shows("/save FILE")) << seen;
  ASSERT_TRUE(shows("Ctrl-C ends an answer.")) << seen;
  type("/exit\n");
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  close(terminal);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace fovea
