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

}  // namespace fovea::kernels
