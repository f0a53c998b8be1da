// A program that is ended while it writes leaves no file behind.
#include "cli/interrupt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

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
  ASSERT_EQ(run_command("mkfifo " + (folder / "in").string()).code, 0);
  const std::vector<std::string> before = names_in(folder.path());
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    const Answer answer =
        run_command(fmt::format("cd {} && ({} translate -m my-model -i in -o out.txt --svg out.svg & child=$!; exec "
                                "3>in; echo 'The sea.' >&3; sleep 0.3; "
                                "kill -{} $child; wait $child; echo $?) 2>/dev/null",
                                folder.path().string(), test_program, signal));
    // A shell starts what runs behind it with SIGINT ignored.
    const int number = signal == std::string("INT") ? SIGINT : signal == std::string("HUP") ? SIGHUP : SIGTERM;
    if (number != SIGINT) EXPECT_EQ(answer.out, fmt::format("{}\n", 128 + number));
    EXPECT_EQ(names_in(folder.path()), before) << signal;
    fs::remove(folder / "out.txt"), fs::remove(folder / "out.svg");
  }
}

}  // namespace
}  // namespace fovea
