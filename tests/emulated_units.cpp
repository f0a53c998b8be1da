#include "emulated_units.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>
#define FOVEA_CAN_EMULATE 1
#else
#define FOVEA_CAN_EMULATE 0
#endif

namespace fovea {
namespace {

// Denormal numbers count as zeros, also as results.
float flushed(float x) { return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }
float from_bf16(uint16_t bits) { return flushed(std::bit_cast<float>(uint32_t{bits} << 16)); }

// A product of two bf16 is exact in float64, and so is what decides how its sum with a float is rounded.
float fused(float a, float b, float sum) {
  return flushed(static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(sum)));
}

template <class T>
T element(const std::byte* row, int i) {
  T value;
  std::memcpy(&value, row + i * static_cast<int>(sizeof value), sizeof value);
  return value;
}
template <class T>
void set_element(std::byte* row, int i, T value) {
  std::memcpy(row + i * static_cast<int>(sizeof value), &value, sizeof value);
}

}  // namespace

bool TileFile::configure(const std::byte* shapes) {
  if (shapes[0] != std::byte{1} || shapes[1] != std::byte{0}) return false;  // palette 1, no row to go on from
  *this = {};
  for (int i = 0; i < 16; ++i) {
    const auto wide = element<uint16_t>(shapes + 16, i);
    const auto high = element<uint8_t>(shapes + 48, i);
    if (i >= 8 ? wide != 0 || high != 0 : wide > 64 || high > 16) return false;
    if (i < 8) bytes[i] = wide, rows[i] = high;
  }
  return configured = true;
}

void TileFile::zero(int tile) { std::memset(data[tile], 0, sizeof data[tile]); }

void TileFile::load(int tile, const std::byte* from, int64_t stride) {
  zero(tile);
  for (int r = 0; r < rows[tile]; ++r) std::memcpy(data[tile][r], from + r * stride, bytes[tile]);
}

void TileFile::store(int tile, std::byte* to, int64_t stride) const {
  for (int r = 0; r < rows[tile]; ++r) std::memcpy(to + r * stride, data[tile][r], bytes[tile]);
}

bool TileFile::fits(int sum, int a, int b) const {
  return has(sum) && has(a) && has(b) && sum != a && sum != b && a != b && rows[sum] == rows[a] &&
         bytes[a] == 4 * rows[b] && bytes[sum] == bytes[b] && bytes[sum] % 4 == 0;
}

bool TileFile::add_bf16(int sum, int a, int b) {
  if (!fits(sum, a, b)) return false;
  const int columns = bytes[sum] / 4;
  float of_b[16][2][16];
  for (int k = 0; k < rows[b]; ++k)
    for (int n = 0; n < 2 * columns; ++n) of_b[k][n % 2][n / 2] = from_bf16(element<uint16_t>(data[b][k], n));
  for (int m = 0; m < rows[sum]; ++m) {
    float even[16] = {}, odd[16] = {};
    for (int k = 0; k < rows[b]; ++k) {
      const float a0 = from_bf16(element<uint16_t>(data[a][m], 2 * k));
      const float a1 = from_bf16(element<uint16_t>(data[a][m], 2 * k + 1));
      for (int n = 0; n < columns; ++n) even[n] = fused(a0, of_b[k][0][n], even[n]);
      for (int n = 0; n < columns; ++n) odd[n] = fused(a1, of_b[k][1][n], odd[n]);
    }
    for (int n = 0; n < columns; ++n) {
      const float before = flushed(element<float>(data[sum][m], n));
      set_element(data[sum][m], n, flushed(before + flushed(even[n] + odd[n])));
    }
  }
  return true;
}

bool TileFile::add_int8(int sum, int a, int b) {
  if (!fits(sum, a, b)) return false;
  for (int m = 0; m < rows[sum]; ++m) {
    for (int k = 0; k < rows[b]; ++k) {
      for (int n = 0; n < bytes[sum] / 4; ++n) {
        uint32_t total = element<uint32_t>(data[sum][m], n);  // wraps as the instruction does
        for (int i = 0; i < 4; ++i)
          total +=
              static_cast<uint32_t>(element<int8_t>(data[a][m], 4 * k + i) * element<int8_t>(data[b][k], 4 * n + i));
        set_element(data[sum][m], n, total);
      }
    }
  }
  return true;
}

#if FOVEA_CAN_EMULATE

namespace {

thread_local TileFile tiles;
struct sigaction asked_before;
int emulations = 0;
unsigned upper_halves = 0;  // of vectors, in a signal's frame

// The fields of an instruction with a VEX prefix of three bytes, and where it ends.
struct Instruction {
  int prefix, opcode, reg, second, rm;  // prefix: 0 none, 1 66, 2 F3, 3 F2; second: the operand of the prefix
  bool wide, in_memory;                 // 256 bits
  std::byte* address;                   // of its base, with the displacement
  int64_t index;                        // scaled
  const uint8_t* end;
};

int64_t greg(const ucontext_t& u, int number) {
  constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                           REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return u.uc_mcontext.gregs[order[number]];
}

bool decode(const ucontext_t& u, Instruction& i) {
  const auto* at = reinterpret_cast<const uint8_t*>(u.uc_mcontext.gregs[REG_RIP]);
  if (at[0] != 0xc4 || (at[1] & 0x1f) != 2 || at[2] >> 7) return false;  // VEX, 0F38, W0
  const int more_reg = at[1] & 0x80 ? 0 : 8, more_index = at[1] & 0x40 ? 0 : 8, more_base = at[1] & 0x20 ? 0 : 8;
  i.prefix = at[2] & 3, i.wide = at[2] & 4, i.second = ~at[2] >> 3 & 15, i.opcode = at[3];
  const int mode = at[4] >> 6, low = at[4] & 7;
  i.reg = (at[4] >> 3 & 7) + more_reg, i.rm = low + more_base, i.in_memory = mode != 3, i.index = 0;
  at += 5;
  int64_t address = 0;
  bool long_displacement = mode == 2, of_next = false;
  if (i.in_memory && low == 4) {
    const int scale = at[0] >> 6, index = (at[0] >> 3 & 7) + more_index, base = (at[0] & 7) + more_base;
    if (index != 4) i.index = greg(u, index) * (int64_t{1} << scale);
    if (mode == 0 && (at[0] & 7) == 5)
      long_displacement = true;
    else
      address = greg(u, base);
    ++at;
  } else if (i.in_memory) {
    of_next = mode == 0 && low == 5, long_displacement |= of_next;
    if (!of_next) address = greg(u, i.rm);
  }
  if (long_displacement) {
    int32_t displacement;
    std::memcpy(&displacement, at, 4);
    address += displacement, at += 4;
  } else if (mode == 1) {
    address += static_cast<int8_t>(*at++);
  }
  if (of_next) address += reinterpret_cast<int64_t>(at);
  i.address = reinterpret_cast<std::byte*>(address), i.end = at;
  return true;
}

bool run_on_tiles(const Instruction& i) {
  if (i.wide) return false;
  if (i.opcode == 0x49 && i.prefix == 0 && i.in_memory) return tiles.configure(i.address + i.index);
  if (i.opcode == 0x49 && i.prefix == 0) return tiles = {}, true;  // TILERELEASE
  if (!tiles.configured || !tiles.has(i.reg)) return false;
  if (i.opcode == 0x49 && i.prefix == 3 && !i.in_memory) return tiles.zero(i.reg), true;
  if (i.opcode == 0x4b && i.prefix == 3 && i.in_memory) return tiles.load(i.reg, i.address, i.index), true;
  if (i.opcode == 0x4b && i.prefix == 2 && i.in_memory) return tiles.store(i.reg, i.address, i.index), true;
  if (i.opcode == 0x5c && i.prefix == 2 && !i.in_memory) return tiles.add_bf16(i.reg, i.rm, i.second);
  if (i.opcode == 0x5e && i.prefix == 3 && !i.in_memory) return tiles.add_int8(i.reg, i.rm, i.second);
  return false;
}

// Vectors stand in the signal's frame as XSAVE has them: lower halves behind 160 bytes, upper ones where CPUID says, if their bit is set.
struct Vectors {
  explicit Vectors(const ucontext_t& u) : frame(reinterpret_cast<std::byte*>(u.uc_mcontext.fpregs)) {
    upper = frame + upper_halves;
    auto states = element<uint64_t>(frame + 512, 0);
    if (!(states & 4)) std::memset(upper, 0, 16 * 16);
    set_element(frame + 512, 0, states | 6);
  }
  std::byte* lane(int vector, int i) const { return (i < 4 ? frame + 160 : upper) + vector * 16 + i % 4 * 4; }
  std::byte *frame, *upper;
};

bool run_dot_product(const ucontext_t& u, const Instruction& i) {
  if (i.opcode != 0x50 || i.prefix != 1 || !i.wide || i.in_memory) return false;
  const Vectors v(u);
  for (int lane = 0; lane < 8; ++lane) {
    auto total = element<uint32_t>(v.lane(i.reg, lane), 0);
    for (int j = 0; j < 4; ++j)
      total +=
          static_cast<uint32_t>(element<uint8_t>(v.lane(i.second, lane), j) * element<int8_t>(v.lane(i.rm, lane), j));
    set_element(v.lane(i.reg, lane), 0, total);
  }
  return true;
}

void on_illegal(int, siginfo_t*, void* context) {
  auto& u = *static_cast<ucontext_t*>(context);
  Instruction i;
  if (decode(u, i) && (run_on_tiles(i) || run_dot_product(u, i))) {
    u.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<int64_t>(i.end);
    return;
  }
  sigaction(SIGILL, &asked_before, nullptr);  // it runs again, and whoever was asked before is asked
}

}  // namespace

EmulatedUnits::EmulatedUnits(const kernels::Units& wanted) : before_(kernels::units()) {
  kernels::Units all = before_;
  all.tiles |= wanted.tiles, all.avx_vnni |= wanted.avx_vnni;
  if (emulations++ == 0) {
    unsigned a, c, d;
    __get_cpuid_count(0xd, 2, &a, &upper_halves, &c, &d);
    struct sigaction action = {};
    action.sa_sigaction = on_illegal, action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, &asked_before);
  }
  kernels::pretend_units(all);
}

EmulatedUnits::~EmulatedUnits() {
  kernels::pretend_units(before_);
  if (--emulations == 0) sigaction(SIGILL, &asked_before, nullptr);
}

#else

EmulatedUnits::EmulatedUnits(const kernels::Units&) : before_(kernels::units()) {}
EmulatedUnits::~EmulatedUnits() {}

#endif

std::vector<Simd> emulated_simds() {
  std::vector<Simd> all = supported_simds();
  if (FOVEA_CAN_EMULATE && all.back() != Simd::amx) all.push_back(Simd::amx);
  return all;
}

}  // namespace fovea
