// The process's one pool of threads. Results never depend on its size: a loop body writes only what belongs to its
// index.
//
//   set_threads(4);
//   parallel_for(rows, [&](int64_t row) { … });        // indices are claimed in rising order
//
// It returns when all bodies are done, and throws the first exception of a body again. Called from inside a body, or
// while another thread has the pool, it runs on the calling thread alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace fovea {

int threads();
void set_threads(int count);  // 1 or more; 0 means usable_cores(). An Error inside a loop body
int usable_cores();           // physical cores that this process may run on

namespace detail {
using LoopBody = void (*)(void* state, int64_t index);
void parallel_for(int64_t count, LoopBody body, void* state);
}  // namespace detail

template <class Body>
void parallel_for(int64_t count, Body&& body) {
  using Function = std::remove_reference_t<Body>;
  detail::parallel_for(
      count, [](void* state, int64_t index) { (*static_cast<Function*>(state))(index); }, (void*)&body);
}

// Inside a body: returns once `turn` is `wanted`, as a body with a lower index makes it. If a body of the loop has thrown,
// so does this, since the turn may never come.
void wait_for_turn(const std::atomic<int64_t>& turn, int64_t wanted);

// The same over [0, size) in contiguous pieces of at least `grain`:  body(begin, end).
template <class Body>
void parallel_ranges(int64_t size, int64_t grain, Body&& body) {
  if (size <= 0) return;
  int64_t pieces = (size + grain - 1) / grain;
  if (int64_t most = int64_t{4} * threads(); pieces > most) pieces = most;
  if (pieces <= 1) return body(int64_t{0}, size);
  parallel_for(pieces, [&](int64_t i) { body(size * i / pieces, size * (i + 1) / pieces); });
}

}  // namespace fovea
