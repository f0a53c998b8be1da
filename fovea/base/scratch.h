// Working memory of one thread that is kept from call to call, so that a kernel never pays for fresh pages.
//
//   Scratch scratch;                                 // on the stack; what it gave out is free again at the end of its
//   scope float* scores = scratch.take<float>(rows * keys);  // aligned to 64 bytes, not initialised
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
    return static_cast<T*>(take_bytes(static_cast<size_t>(count) * sizeof(T)));
  }

 private:
  void* take_bytes(size_t bytes);
  size_t block_, used_;  // where the thread's stack of blocks stood when this scope began
};

}  // namespace fovea
