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

}  // namespace

void remove_at_interrupt(const std::filesystem::path& file) {
  const std::string name = file.string();
  if (name.empty() || name.size() >= PATH_MAX || static_cast<size_t>(count) == names.size()) return;
  std::memcpy(names[static_cast<size_t>(count)], name.c_str(), name.size() + 1);
  count = count + 1;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, remove_and_end);
}

}  // namespace fovea
