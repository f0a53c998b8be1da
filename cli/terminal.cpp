#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace fovea {

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

TerminalLook terminal_look() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const int unknown = stdout_is_terminal() ? 80 : 1 << 20;  // a pipe has no edge
  return {.width = known ? size.ws_col : unknown, .colour = stdout_is_terminal() && !std::getenv("NO_COLOR")};
}

}  // namespace fovea
