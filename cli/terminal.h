// What stdout is connected to.
#pragma once

#include "fovea/explain/heat_map.h"

namespace fovea {

bool stdout_is_terminal();
TerminalLook terminal_look();  // the terminal's width; colours unless NO_COLOR is set or stdout is a pipe

}  // namespace fovea
