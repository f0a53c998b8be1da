#include "fovea/kernels/unit.h"

#include "fovea/kernels/amx.h"
#include "fovea/kernels/simd.h"
#include "fovea/kernels/trial.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
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

// An instruction that adds products of zmm1 and zmm2 to zmm0, or of their parts: what becomes of the first lane.
#define FOVEA_FIRST_LANE(instruction, sum, a, b)                                      \
  asm volatile("vmovd %0, %%xmm0\n vmovd %1, %%xmm1\n vmovd %2, %%xmm2\n" instruction \
               "\n vmovd %%xmm0, %0\n vzeroupper"                                     \
               : "+r"(sum)                                                            \
               : "r"(a), "r"(b)                                                       \
               : "xmm0", "xmm1", "xmm2")

// 1 + Σ of four products: 200 · −3 + 1 · 2 + 2 · 2 + 255 · −128.
constexpr uint32_t of_four = static_cast<uint32_t>(1 - 600 + 2 + 4 - 32640);
constexpr uint32_t without_signs = 0xff0201c8u, with_signs = 0x800202fdu;

bool avx512_vnni_is_right() {
  uint32_t sum = 1;
  FOVEA_FIRST_LANE("vpdpbusd %%zmm2, %%zmm1, %%zmm0", sum, without_signs, with_signs);
  return sum == of_four;
}

bool avx_vnni_is_right() {
  uint32_t sum = 1;
  FOVEA_FIRST_LANE("%{vex%} vpdpbusd %%ymm2, %%ymm1, %%ymm0", sum, without_signs, with_signs);
  return sum == of_four;
}

// 1 + 1.5 · 3 − 2 · 0.5
bool avx512_bf16_is_right() {
  uint32_t sum = std::bit_cast<uint32_t>(1.0f);
  FOVEA_FIRST_LANE("vdpbf16ps %%zmm2, %%zmm1, %%zmm0", sum, 0xc0003fc0u, 0x3f004040u);
  return std::bit_cast<float>(sum) == 4.5f;
}

Units find_units() {
  Units found;
  const bool wide = saves(0xe6);
  found.tiles = tiles_work();
  found.avx512_bf16 = bit(cpuid(7, 1).a, 5) && wide && runs(avx512_bf16_is_right);
  found.avx512_vnni = bit(cpuid(7).c, 11) && wide && runs(avx512_vnni_is_right);
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

const Units& units() { return known_units(); }
void pretend_units(const Units& pretended) { known_units() = pretended; }

Unit unit_of(Precision p) {
  if (p == Precision::f32) return Unit::vectors;
  const Simd set = simd();
  if (set == Simd::amx) return Unit::tiles;
  if (p == Precision::bf16) return set == Simd::avx512_bf16 ? Unit::dot_products : Unit::vectors;
  return unit_of_blocks(1);
}

Unit unit_of_blocks(int64_t rows) {
  const Simd set = simd();
  if (set == Simd::amx && rows >= 8) return Unit::tiles;
  const Units& u = known_units();
  const bool dots = set == Simd::avx2 ? u.avx_vnni : set != Simd::baseline && u.avx512_vnni;
  return dots ? Unit::dot_products : Unit::vectors;
}

std::string_view name_of_unit(Precision p) {
  switch (unit_of(p)) {
    case Unit::tiles:
      return "AMX";
    case Unit::dot_products:
      return p == Precision::bf16 ? "AVX-512 BF16" : "VNNI";
    case Unit::vectors:
      break;
  }
  return "vectors";
}

}  // namespace fovea::kernels
