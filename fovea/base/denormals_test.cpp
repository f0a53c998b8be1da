#include "fovea/base/denormals.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fovea/base/threads.h"

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

}  // namespace
}  // namespace fovea
