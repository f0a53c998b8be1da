#include "fovea/base/denormals.h"

#include <gtest/gtest.h>

#include <vector>

#include "fovea/base/half.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/convert.h"
#include "fovea/kernels/every_simd.h"

namespace fovea {
namespace {

float halved(float x) {
  volatile float y = x;
  return y * 0.5f;
}

TEST(Denormals, AreZeroWhereTheyAreFlushedAndNowhereElse) {
  constexpr float least = 0x1p-126f;
  EXPECT_GT(halved(least), 0);
  {
    const FlushDenormals flush;
    EXPECT_EQ(halved(least), 0);
    const FlushDenormals again;
    EXPECT_EQ(halved(least), 0);
  }
  EXPECT_GT(halved(least), 0);
}

TEST(Denormals, LoopsTakeThemAsTheirCallerDoes) {
  const int before = threads();
  set_threads(4);
  for (const bool flushed : {true, false, true}) {
    std::vector<float> found(1000);
    const uint64_t mode = float_mode();
    {
      std::unique_ptr<FlushDenormals> flush;
      if (flushed) flush = std::make_unique<FlushDenormals>();
      parallel_for(1000, [&](int64_t i) { found[static_cast<size_t>(i)] = halved(0x1p-126f); });
    }
    EXPECT_EQ(float_mode(), mode);
    for (float x : found) ASSERT_EQ(x == 0, flushed);
  }
  set_threads(before);
}

TEST(Denormals, HalvesAreExactAllTheSame) {
  std::vector<uint16_t> halves;
  for (uint16_t i = 0; i < 2048; ++i) halves.push_back(i), halves.push_back(static_cast<uint16_t>(i | 0x8000));
  for_each_simd([&] {
    const FlushDenormals flush;
    std::vector<float> found(halves.size());
    kernels::float_of_half(static_cast<int64_t>(halves.size()), halves.data(), found.data());
    for (size_t i = 0; i < halves.size(); ++i) ASSERT_EQ(found[i], float_of_half(halves[i])) << halves[i];
  });
}

}  // namespace
}  // namespace fovea
