// The largest elements of a row, as a search over a vocabulary needs them: one pass, and nothing of its size is written.
//
//   std::vector<Chosen> best = largest(logits, 5);     // falling; equal ones by rising index
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea::kernels {

struct Chosen {
  float value = 0;
  int64_t index = 0;
};

// At most `count` of them; −∞ and NaN are passed over.
std::vector<Chosen> largest(std::span<const float> x, int64_t count);

// The first run of numbers from `begin` on that may hold something above the threshold: what stands before it does not. It is empty,
// at the end, if there is none.
struct RunAbove {
  int64_t begin = 0, end = 0;
};
RunAbove next_above(std::span<const float> x, int64_t begin, float threshold);

}  // namespace fovea::kernels
