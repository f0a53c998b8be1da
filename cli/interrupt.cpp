#include "cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstring>

namespace fovea {
namespace {

// A signal's handler may not look into anything that is allocated.
std::array<char[PATH_MAX], 4> names;
volatile std::sig_atomic_t count = 0;

void remove_and_end(int signal) {
  for (int i = 0; i < count; ++i) unlink(names[static_cast<size_t>(i)]);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

volatile std::sig_atomic_t presses = 0;

void count_press(int signal) {
  presses = presses + 1;
  if (presses > 1) remove_and_end(signal);
}

// A read that waits for a line is to end as well.
void on_ctrl_c(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

CtrlC::CtrlC() {
  presses = 0;
  on_ctrl_c(count_press);
}
CtrlC::~CtrlC() { on_ctrl_c(count > 0 ? remove_and_end : SIG_DFL); }
bool CtrlC::pressed() const { return presses > 0; }
void CtrlC::forget() { presses = 0; }

void remove_at_interrupt(const std::filesystem::path& file) {
  const std::string name = file.string();
  if (name.empty() || name.size() >= PATH_MAX || static_cast<size_t>(count) == names.size()) return;
  std::memcpy(names[static_cast<size_t>(count)], name.c_str(), name.size() + 1);
  count = count + 1;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, remove_and_end);
}

}  // namespace fovea
