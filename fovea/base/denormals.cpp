#include "fovea/base/denormals.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fovea {

#if defined(__x86_64__)
namespace {
constexpr uint64_t flush_results = 0x8000, take_for_zero = 0x40,
                   flushing = flush_results | take_for_zero;  // bits of MXCSR
}
uint64_t float_mode() { return _mm_getcsr() & flushing; }
void set_float_mode(uint64_t mode) {
  _mm_setcsr((_mm_getcsr() & ~static_cast<uint32_t>(flushing)) | static_cast<uint32_t>(mode));
}
#elif defined(__aarch64__)
namespace {
constexpr uint64_t flushing = uint64_t{1} << 24;  // FZ of FPCR
uint64_t control() {
  uint64_t bits;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
}  // namespace
uint64_t float_mode() { return control() & flushing; }
void set_float_mode(uint64_t mode) { asm volatile("msr fpcr, %0" ::"r"((control() & ~flushing) | mode)); }
#else
namespace {
constexpr uint64_t flushing = 0;
}
uint64_t float_mode() { return 0; }
void set_float_mode(uint64_t) {}
#endif

FlushDenormals::FlushDenormals() : before_(float_mode()) { set_float_mode(flushing); }

}  // namespace fovea
