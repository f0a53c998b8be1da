// Working memory of one thread that is kept from call to call, so that a kernel never pays for fresh pages.
//
//   Scratch scratch;                                        // what it gives out is free again at the end of its scope
//   float* scores = scratch.take<float>(rows * keys);       // aligned to 64 bytes, not initialised
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea {

class Scratch final {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <class T>
  T* take(int64_t count) {
    return static_cast<T*>(take_bytes(count, sizeof(T)));
  }

 private:
  void* take_bytes(int64_t count, size_t size);
  size_t block_, used_;  // where the thread's stack of blocks stood when this scope began
};

// Bytes that this thread keeps: what a call needed beyond `most_kept_scratch` is given back when its last scope ends.
size_t kept_scratch();
inline constexpr size_t most_kept_scratch = size_t{64} << 20;

}  // namespace fovea
