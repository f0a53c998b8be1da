// Numbers below 2⁻¹²⁶, which CPUs compute with a hundred times slower than with others, taken for zero.
//
//   FlushDenormals flush;                              // as long as it lives: in this thread, and in every loop that it starts
//
// Gradients that fade over many steps become such numbers. A training flushes them; elsewhere nothing does, so that what is
// computed does not depend on who asks.
#pragma once

#include <cstdint>

namespace fovea {

// How this thread takes them; the pool's threads take them as the one whose loop they run.
uint64_t float_mode();
void set_float_mode(uint64_t mode);

class FlushDenormals final {
 public:
  FlushDenormals();
  ~FlushDenormals() { set_float_mode(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint64_t before_;
};

}  // namespace fovea
