#include "fovea/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fovea/base/error.h"
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

// The others wait for the one that fails, as the tasks of attention's backward pass do for their turns.
TEST_F(Threads, BodiesThatWaitForAFailedOneEndToo) {
  for (int count : {1, 2, 4}) {
    set_threads(count);
    for (int round = 0; round < 50; ++round) {
      std::atomic<int64_t> turn = 0;
      EXPECT_THROW(parallel_for(20,
                                [&](int64_t i) {
                                  wait_for_turn(turn, i);
                                  if (i == 3) throw std::runtime_error("three");
                                  turn.store(i + 1, std::memory_order_release);
                                }),
                   std::runtime_error);
      EXPECT_EQ(turn, 3);
    }
    std::atomic<int64_t> turn = 0;
    parallel_for(20, [&](int64_t i) {
      wait_for_turn(turn, i);
      turn.store(i + 1, std::memory_order_release);
    });
    EXPECT_EQ(turn, 20);
  }
}

TEST_F(Threads, TheirNumberCannotChangeInsideALoop) {
  for (int count : {1, 3}) {
    set_threads(count);
    for (int64_t bodies : {1, 50}) EXPECT_THROW(parallel_for(bodies, [](int64_t) { set_threads(2); }), Error);
    EXPECT_EQ(threads(), count);
    set_threads(2);
    EXPECT_EQ(threads(), 2);
  }
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

TEST(ScratchMemory, WhatALargeCallNeededIsGivenBack) {
  std::thread([] {  // whose scratch is new
    { Scratch().take<float>(10); }
    const size_t small = kept_scratch();
    EXPECT_LE(small, size_t{1} << 20);
    {
      Scratch scratch;
      scratch.take<std::byte>(40 << 20);
    }
    EXPECT_GE(kept_scratch(), size_t{40} << 20) << "an ordinary call finds its memory again";
    {
      Scratch outer;
      std::byte* mine = outer.take<std::byte>(100);
      mine[99] = std::byte{7};
      { Scratch().take<std::byte>(int64_t{1} << 30); }
      EXPECT_GE(kept_scratch(), size_t{1} << 30) << "the outermost scope is still open";
      EXPECT_EQ(mine[99], std::byte{7});
    }
    EXPECT_LE(kept_scratch(), most_kept_scratch);
    EXPECT_GE(kept_scratch(), small);
  })
      .join();
}

TEST(ScratchMemory, ImpossibleSizesAreRefused) {
  Scratch scratch;
  EXPECT_THROW(scratch.take<double>(std::numeric_limits<int64_t>::max()), std::bad_alloc);
  EXPECT_THROW(scratch.take<double>(int64_t{1} << 55), std::bad_alloc);
  EXPECT_THROW(scratch.take<double>(-1), std::bad_alloc);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch.take<float>(3)) % 64, 0u);
}

}  // namespace
}  // namespace fovea
