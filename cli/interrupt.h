// What has a name while it is being written goes away with a program that is interrupted.
//
//   remove_at_interrupt(file.part());                  // on Ctrl-C, SIGTERM and SIGHUP; which then end the process as ever
#pragma once

#include <filesystem>

namespace fovea {

void remove_at_interrupt(const std::filesystem::path& file);  // an empty one, or one more than four, is passed over

// While it lives, Ctrl-C is asked about instead of ending the program; a second one before the answer ends it.
//
//   const CtrlC ctrl_c;   if (ctrl_c.pressed()) …
class CtrlC final {
 public:
  CtrlC();
  ~CtrlC();
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;

  bool pressed() const;
  void forget();  // it was answered
};

}  // namespace fovea
