// Which instruction set the kernels run on. Each kernel is compiled for all of them; the best one that the CPU has is
// chosen at run time unless the caller, `--simd` or FOVEA_SIMD chooses another.
//
//   use_simd(Simd::avx2);
//   for (Simd s : supported_simds()) …
#pragma once

#include <string_view>
#include <vector>

namespace fovea {

enum class Simd {
  baseline,
  avx2,
  avx512,
  avx512_bf16,  // as avx512, but products of bf16 weights run on dot products of bf16 (kernels/unit.h)
  amx,  // the widest vectors that there are, but products of bf16 and int8 weights run on tiles (kernels/unit.h)
};

std::string_view name(Simd);
Simd parse_simd(std::string_view text);  // an Error for an unknown name
std::vector<Simd> supported_simds();     // on this CPU, from the plainest to the widest
Simd simd();                             // the one in use
void use_simd(Simd);                     // an Error if the CPU does not have it; call it while no kernel runs

}  // namespace fovea
