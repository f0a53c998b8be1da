// The machine's own limits: multiply-adds in registers only, as fast as they go on the instruction set in use.
//
//   const int64_t operations = fma_burst(rounds);       // of floats, fused
//   const int64_t exact = int8_burst(rounds);           // of whole numbers, as the products of int8 weights add them up
//   const int64_t halves = bf16_burst(rounds);          // as those of bf16 weights: on their unit, else the same as of floats
#pragma once

#include <cstdint>

namespace fovea::kernels {

// Runs `rounds` rounds on the calling thread and returns the number of operations done (a multiply-add is two).
int64_t fma_burst(int64_t rounds);
int64_t int8_burst(int64_t rounds);
int64_t bf16_burst(int64_t rounds);
int64_t block_burst(int64_t rounds);  // of whole numbers as the blocks of GGUF files are multiplied: without tiles

}  // namespace fovea::kernels
