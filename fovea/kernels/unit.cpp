#include "fovea/kernels/unit.h"

#include "fovea/kernels/amx.h"
#include "fovea/kernels/simd.h"
#include "fovea/kernels/trial.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace fovea::kernels {
namespace {

#if defined(__x86_64__) && defined(__linux__)

struct Cpuid {
  unsigned a = 0, b = 0, c = 0, d = 0;
};
Cpuid cpuid(unsigned leaf, unsigned subleaf = 0) {
  Cpuid r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d)) return {};
  return r;
}
bool bit(unsigned word, int i) { return word >> i & 1u; }

// The states of registers that the system saves: bit 2 that of 256-bit vectors, 5 to 7 of 512-bit ones, 17 and 18 of tiles.
uint64_t saved_states() {
  if (!bit(cpuid(1).c, 27)) return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}
bool saves(uint64_t states) { return (saved_states() & states) == states; }

bool may_use_tiles() {
  constexpr int get_permission = 0x1022, request_permission = 0x1023, tile_data = 18;  // of arch_prctl
  uint64_t permitted = 0;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0 &&
         syscall(SYS_arch_prctl, get_permission, &permitted) == 0 && (permitted >> tile_data & 1);
}

bool tiles_work() {
  const unsigned features = cpuid(7).d;
  if (!bit(features, 24) || !bit(features, 22) || !bit(features, 25)) return false;  // AMX-TILE, AMX-BF16, AMX-INT8
  if (!saves(uint64_t{3} << 17) || !may_use_tiles()) return false;
  if (runs(amx_is_right)) return true;
  runs([] { return release_tiles(), true; });
  return false;
}

// 1 + Σ of four products: 200 · −3 + 1 · 2 + 2 · 2 + 255 · −128.
constexpr int32_t dot_of_trial = 1 - 600 + 2 + 4 - 32640;
constexpr uint32_t unsigned_of_trial = 0xff0201c8u, signed_of_trial = 0x800202fdu;

bool avx512_vnni_is_right() {
  int32_t sum = 1;
  asm volatile(
      "vmovd %0, %%xmm0\n vmovd %1, %%xmm1\n vmovd %2, %%xmm2\n"
      "vpdpbusd %%zmm2, %%zmm1, %%zmm0\n vmovd %%xmm0, %0\n vzeroupper"
      : "+r"(sum)
      : "r"(unsigned_of_trial), "r"(signed_of_trial)
      : "xmm0", "xmm1", "xmm2");
  return sum == dot_of_trial;
}

bool avx_vnni_is_right() {
  int32_t sum = 1;
  asm volatile(
      "vmovd %0, %%xmm0\n vmovd %1, %%xmm1\n vmovd %2, %%xmm2\n"
      "%{vex%} vpdpbusd %%ymm2, %%ymm1, %%ymm0\n vmovd %%xmm0, %0\n vzeroupper"
      : "+r"(sum)
      : "r"(unsigned_of_trial), "r"(signed_of_trial)
      : "xmm0", "xmm1", "xmm2");
  return sum == dot_of_trial;
}

Units find_units() {
  Units found;
  found.tiles = tiles_work();
  found.avx512_vnni = bit(cpuid(7).c, 11) && saves(0xe6) && runs(avx512_vnni_is_right);
  found.avx_vnni = bit(cpuid(7, 1).a, 4) && saves(0x6) && runs(avx_vnni_is_right);
  return found;
}

#else

Units find_units() { return {}; }

#endif

Units& known_units() {
  static Units known = find_units();
  return known;
}

}  // namespace

std::string_view name(Unit u) { return u == Unit::tiles ? "AMX" : u == Unit::dot_products ? "VNNI" : "vectors"; }

Units units() { return known_units(); }
void pretend_units(const Units& pretended) { known_units() = pretended; }

Unit unit_of(Precision p) {
  if (p == Precision::f32) return Unit::vectors;
  const Simd set = simd();
  if (set == Simd::amx) return Unit::tiles;
  const Units& u = known_units();
  const bool dots = (set == Simd::avx512 && u.avx512_vnni) || (set == Simd::avx2 && u.avx_vnni);
  return p == Precision::int8 && dots ? Unit::dot_products : Unit::vectors;
}

}  // namespace fovea::kernels
