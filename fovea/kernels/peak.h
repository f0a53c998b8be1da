// The machine's own limit: fused multiply-adds in registers only, as fast as they go on the instruction set in use.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// Runs `rounds` rounds on the calling thread and returns the number of floating-point operations done (a fused one is
// two).
int64_t fma_burst(int64_t rounds);

}  // namespace fovea::kernels
