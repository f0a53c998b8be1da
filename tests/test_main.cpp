#include <gtest/gtest.h>

#include <cstdlib>

#include "fovea/kernels/simd.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* wanted = std::getenv("FOVEA_SIMD")) fovea::use_simd(fovea::parse_simd(wanted));
  return RUN_ALL_TESTS();
}
