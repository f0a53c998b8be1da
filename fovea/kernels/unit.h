// The units that newer CPUs have for products of int8 and bf16, beside the vectors on which everything else runs.
//
//   if (unit_of(Precision::bf16) == Unit::tiles) …      // on the instruction set in use
//
// Whether one is there is found out once in a process: the CPU says so, the system permits it, and the instructions run and are
// right in a trial; some hypervisors claim what they lack. The integers of int8 are the same on all of them. bf16 is another
// number on tiles, which round x to bf16 as well; so tiles are an instruction set of their own (simd.h).
#pragma once

#include <string_view>

#include "fovea/base/precision.h"

namespace fovea::kernels {

enum class Unit {
  vectors,
  dot_products,  // int8: VPDPBUSD, of 512 bits (AVX-512 VNNI) or 256 (AVX-VNNI)
  tiles,         // int8 and bf16: AMX
};

std::string_view name(Unit);  // "vectors", "VNNI", "AMX"
Unit unit_of(Precision);      // which one multiplies weights of this precision

struct Units {
  bool tiles = false, avx512_vnni = false, avx_vnni = false;
};
Units units();                     // of this CPU
void pretend_units(const Units&);  // for tests that emulate instructions; call it while no kernel runs

}  // namespace fovea::kernels
