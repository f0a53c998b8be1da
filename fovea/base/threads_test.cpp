#include "fovea/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fovea/base/scratch.h"

namespace fovea {
namespace {

class Threads : public testing::Test {
 protected:
  void SetUp() override { set_threads(3); }
  void TearDown() override { set_threads(0); }
};

TEST_F(Threads, EveryIndexRunsOnce) {
  for (int64_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
    parallel_for(count, [&](int64_t i) { ++hits[static_cast<size_t>(i)]; });
    for (auto& h : hits) EXPECT_EQ(h, 1);
  }
}

TEST_F(Threads, NestedLoopsAndOtherCallersRunToo) {
  std::atomic<int> sum = 0;
  auto nested = [&] { parallel_for(10, [&](int64_t) { parallel_for(10, [&](int64_t) { ++sum; }); }); };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 20; ++j) nested();
    });
  for (auto& c : callers) c.join();
  EXPECT_EQ(sum, 4 * 20 * 100);
}

TEST_F(Threads, AnExceptionComesThroughAndThePoolGoesOn) {
  EXPECT_THROW(parallel_for(100,
                            [](int64_t i) {
                              if (i == 7) throw std::runtime_error("seven");
                            }),
               std::runtime_error);
  std::atomic<int> sum = 0;
  parallel_for(100, [&](int64_t) { ++sum; });
  EXPECT_EQ(sum, 100);
}

TEST_F(Threads, RangesCoverEverythingOnce) {
  std::vector<std::atomic<int>> hits(10001);
  parallel_ranges(10001, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
  });
  for (auto& h : hits) ASSERT_EQ(h, 1);
}

TEST_F(Threads, AllAndOnlyUsableCoresByDefault) {
  set_threads(0);
  EXPECT_EQ(threads(), usable_cores());
  EXPECT_GE(threads(), 1);
}

TEST(ScratchMemory, BuffersAreAlignedApartAndReused) {
  const void* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    Scratch scratch;
    float* a = scratch.take<float>(1000);
    float* b = scratch.take<float>(5'000'000);
    std::fill(a, a + 1000, 1.f);
    std::fill(b, b + 5'000'000, 2.f);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
    EXPECT_EQ(a[999], 1.f);
    {
      Scratch inner;
      float* c = inner.take<float>(100);
      std::fill(c, c + 100, 3.f);
    }
    EXPECT_EQ(b[0], 2.f);
    if (round == 1) first = a;
    if (round == 2) {
      EXPECT_EQ(first, a);
    }
  }
}

}  // namespace
}  // namespace fovea
