// Lines of memory that are asked for before they are needed.
//
//   fetch<1>(row, width * sizeof(float));              // to be written
//
// GCC takes a loop that does nothing but fetch for an empty one and drops it, unless something in it says that it is not.
#pragma once

#include <cstdint>

namespace fovea::kernels {

// `locality` as of __builtin_prefetch: 3 for all caches, 2 for those behind the first.
template <int write = 0, int locality = 3>
inline __attribute__((always_inline)) void fetch(const void* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(static_cast<const char*>(from) + i, write, locality);
    asm volatile("");
  }
}

}  // namespace fovea::kernels
