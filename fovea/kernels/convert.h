// Half precision to floats, exactly.
//
//   float_of_half(count, stored, x);                   // IEEE's binary16, as its bits
#pragma once

#include <cstdint>

namespace fovea::kernels {

void float_of_half(int64_t count, const uint16_t* half, float* x);

bool all_finite(int64_t count, const float* x);

}  // namespace fovea::kernels
