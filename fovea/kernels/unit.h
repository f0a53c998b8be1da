// The units that newer CPUs have for products of int8 and bf16, beside the vectors on which everything else runs.
//
//   if (unit_of(Precision::bf16) == Unit::tiles) …      // on the instruction set in use
//
// Whether one is there is found out once in a process: the CPU says so, the system permits it, and the instructions run and are
// right in a trial; some hypervisors claim what they lack. The integers of int8 are the same on all of them. bf16 is another
// number on them, which round x to bf16 as well; so tiles and dot products of bf16 are instruction sets of their own (simd.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "fovea/base/precision.h"

namespace fovea::kernels {

enum class Unit {
  vectors,
  dot_products,  // int8: VPDPBUSD, of 512 bits (AVX-512 VNNI) or 256 (AVX-VNNI); bf16: VDPBF16PS, of 512 (AVX-512 BF16)
  tiles,         // int8 and bf16: AMX
};

Unit unit_of(Precision);                   // which one multiplies weights of this precision
Unit unit_of_blocks(int64_t rows);         // those in the blocks of GGUF files; tiles are for many rows
std::string_view name_of_unit(Precision);  // "vectors", "VNNI", "AVX-512 BF16", "AMX"

struct Units {
  bool tiles = false, avx512_bf16 = false, avx512_vnni = false, avx_vnni = false;
};
const Units& units();              // of this CPU
void pretend_units(const Units&);  // for tests that emulate instructions; call it while no kernel runs

}  // namespace fovea::kernels
