#include "fovea/data/records.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "fovea/base/error.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::string record(int64_t i) {
  return std::string(static_cast<size_t>(i * 7919 % 3001), static_cast<char>('a' + i % 26));
}

TEST(Records, GiveBackWhatWasAdded) {
  Records records;
  EXPECT_EQ(records.size(), 0);
  records.add("");
  records.add(std::string_view("a\0b", 3));
  EXPECT_EQ(records[0], "");
  EXPECT_EQ(records[1], std::string_view("a\0b", 3));
  EXPECT_THROW(records[2], Error);
  EXPECT_THROW(records[-1], Error);
}

TEST(Records, BeyondTheLimitTheyWaitOnDisk) {
  const fs::path folder = fs::path(testing::TempDir()) / ("fovea_records_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", folder.c_str(), 1);
  Records records({.memory = int64_t{1} << 20});
  std::string_view first;
  for (int64_t i = 0; i < 5000; ++i) {
    records.add(record(i));
    if (i == 1) first = records[1];
  }
  records.add(std::string(5'000'000, 'z'));
  EXPECT_TRUE(records.on_disk());
  EXPECT_TRUE(fs::is_empty(folder)) << "a file with a name outlives a process that is killed";
  EXPECT_EQ(first, record(1)) << "a view did not last";
  for (int64_t i = 4999; i >= 0; --i) ASSERT_EQ(records[i], record(i));
  EXPECT_EQ(records[5000].size(), 5'000'000u);
  const Records moved = std::move(records);
  EXPECT_EQ(moved[77], record(77));
  fs::remove_all(folder);
  Records nowhere({.memory = 0});
  EXPECT_THROW(nowhere.add(std::string(2'000'000, 'x')), Error) << "the folder is gone";
  kept.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
}

TEST(Records, InMemoryThereIsNoFile) {
  Records records({.memory = int64_t{1} << 26});
  for (int64_t i = 0; i < 2000; ++i) records.add(record(i));
  EXPECT_FALSE(records.on_disk());
  EXPECT_EQ(records[1999], record(1999));
}

}  // namespace
}  // namespace fovea
