#include "fovea/tensor/lasting_storage.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace fovea {
namespace {

TEST(LastingStorage, IsAlignedAndNobodyElses) {
  std::vector<std::shared_ptr<std::byte>> pieces;
  const std::vector<size_t> sizes = {0, 1, 64, 49152, 100001, size_t{1} << 20, (size_t{2} << 20) + 7, size_t{9} << 20};
  for (size_t i = 0; i < 40; ++i) {
    pieces.push_back(allocate_lasting(sizes[i % sizes.size()]));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back().get()) % 64, 0u);
    std::memset(pieces.back().get(), static_cast<int>(i), sizes[i % sizes.size()]);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t b = 0; b < sizes[i % sizes.size()]; b += 997) ASSERT_EQ(pieces[i].get()[b], static_cast<std::byte>(i));
  }
}

// A server's conversations come and go for ever.
TEST(LastingStorage, WhatWasGivenBackIsUsedAgainAndEndsWithItsLastPiece) {
  const size_t before = lasting_slabs();
  std::shared_ptr<std::byte> stays = allocate_lasting(777 * 64);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::shared_ptr<std::byte>> pages;
    for (int i = 0; i < 100; ++i) pages.push_back(allocate_lasting(49152));
  }
  EXPECT_LE(lasting_slabs(), before + 2);
  stays.reset();
  EXPECT_LE(lasting_slabs(), before + 1);
}

TEST(LastingStorage, ThreadsTakeAndGive) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (size_t i = 0; i < 500; ++i) {
        const std::shared_ptr<std::byte> piece = allocate_lasting(1000 * (i % 7) + 1);
        std::memset(piece.get(), t, 1000 * (i % 7) + 1);
        ASSERT_EQ(piece.get()[1000 * (i % 7)], static_cast<std::byte>(t));
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace fovea
