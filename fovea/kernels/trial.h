// Whether the CPU runs some instructions: an illegal one ends the trial, not the process.
//
//   if (runs(amx_is_right)) …
#pragma once

namespace fovea::kernels {

// What they return, or false; one trial at a time. SIGILL's handler is the one from before when it is over.
bool runs(bool (*instructions)());

}  // namespace fovea::kernels
