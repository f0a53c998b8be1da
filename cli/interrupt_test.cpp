// A program that is ended while it writes leaves no file behind.
#include "cli/interrupt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
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

}  // namespace
}  // namespace fovea
