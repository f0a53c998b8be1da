// What has a name while it is being written goes away with a program that is interrupted.
//
//   remove_at_interrupt(file.part());                  // on Ctrl-C, SIGTERM and SIGHUP; which then end the process as ever
#pragma once

#include <filesystem>

namespace fovea {

void remove_at_interrupt(const std::filesystem::path& file);  // an empty one, or one more than four, is passed over

}  // namespace fovea
