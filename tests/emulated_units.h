// Instructions that this CPU may lack, carried out by a handler of SIGILL, so that tests run the very machine code of the kernels: the
// tiles of AMX as fovea/kernels/amx.cpp uses them, and VPDPBUSD of 256 bits (AVX-VNNI). What Intel's manual calls an error, and
// anything else that is illegal, stays one.
//
//   const EmulatedUnits emulated({.tiles = true});       // units() has tiles until the end of the scope
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fovea/kernels/simd.h"
#include "fovea/kernels/unit.h"

namespace fovea {

// Of x86-64 and Linux alone; a unit that the CPU has is used as it is.
class EmulatedUnits final {
 public:
  explicit EmulatedUnits(const kernels::Units&);
  ~EmulatedUnits();
  EmulatedUnits(const EmulatedUnits&) = delete;
  EmulatedUnits& operator=(const EmulatedUnits&) = delete;

 private:
  kernels::Units before_;
};

// supported_simds(), and amx where it can be emulated.
std::vector<Simd> emulated_simds();

// A thread's tiles. All functions return whether the manual permits it.
struct TileFile {
  bool configured = false;
  uint16_t bytes[8] = {};
  uint8_t rows[8] = {};
  alignas(64) std::byte data[8][16][64] = {};

  bool configure(const std::byte* shapes);  // the 64 bytes of LDTILECFG
  bool has(int tile) const { return tile < 8 && rows[tile] > 0 && bytes[tile] > 0; }
  void zero(int tile);
  void load(int tile, const std::byte* from, int64_t stride);
  void store(int tile, std::byte* to, int64_t stride) const;
  bool add_bf16(int sum, int a, int b);  // TDPBF16PS
  bool add_int8(int sum, int a, int b);  // TDPBSSD

 private:
  bool fits(int sum, int a, int b) const;
};

}  // namespace fovea
