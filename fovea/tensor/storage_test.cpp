#include "fovea/tensor/storage.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace fovea {
namespace {

TEST(Storage, IsAlignedAndWritableToItsEnd) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{100000}, size_t{131071}, size_t{131072},
                       size_t{4} << 20, (size_t{9} << 20) + 5}) {
    const std::shared_ptr<std::byte> memory = allocate_storage(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
    std::memset(memory.get(), 7, bytes);
  }
}

TEST(Storage, LargePiecesAreUsedAgain) {
  release_storage();
  { allocate_storage(10 << 20); }
  const size_t kept = kept_storage();
  EXPECT_GE(kept, size_t{10} << 20);
  const std::shared_ptr<std::byte> again = allocate_storage((10 << 20) - 1000);
  EXPECT_EQ(kept_storage(), 0u);
  { allocate_storage(5 << 20); }
  const std::shared_ptr<std::byte> other = allocate_storage(1 << 20);  // would waste four fifths of what is kept
  EXPECT_GE(kept_storage(), size_t{5} << 20);
  release_storage();
  EXPECT_EQ(kept_storage(), 0u);
}

TEST(Storage, WhatIsKeptIsBoundedByWhatWasInUseAtOnce) {
  release_storage();
  for (size_t megabytes = 20; megabytes < 60; ++megabytes) allocate_storage(megabytes << 20);  // one at a time
  EXPECT_LE(kept_storage(), size_t{256} << 20);
  {
    std::vector<std::shared_ptr<std::byte>> pieces;
    for (int i = 0; i < 40; ++i) pieces.push_back(allocate_storage(20 << 20));
  }
  EXPECT_GE(kept_storage(), size_t{800} << 20);
  for (size_t megabytes = 30; megabytes < 60; ++megabytes) allocate_storage(megabytes << 20);
  EXPECT_LE(kept_storage(), size_t{1350} << 20);
  release_storage();
  for (size_t megabytes = 20; megabytes < 60; ++megabytes) allocate_storage(megabytes << 20);
  EXPECT_LE(kept_storage(), size_t{256} << 20);
  release_storage();
}

TEST(Storage, WhatCannotBeAllocatedIsNotCountedAsUsed) {
  const size_t before = used_storage();
  EXPECT_THROW(allocate_storage(size_t{1} << 60), std::bad_alloc);
  EXPECT_EQ(used_storage(), before);
  {
    const std::shared_ptr<std::byte> memory = allocate_storage(1 << 20);
    EXPECT_GT(used_storage(), before);
  }
  EXPECT_EQ(used_storage(), before);
  release_storage();
}

TEST(Storage, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const size_t bytes = size_t{200000} + static_cast<size_t>(i % 7) * 100000;
        const std::shared_ptr<std::byte> memory = allocate_storage(bytes);
        std::memset(memory.get(), t, bytes);
        for (size_t at = 0; at < bytes; at += 4099) ASSERT_EQ(memory.get()[at], static_cast<std::byte>(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  release_storage();
}

}  // namespace
}  // namespace fovea
