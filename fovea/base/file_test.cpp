#include "fovea/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "fovea/base/error.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_files_" + std::to_string(getpid()));
};

TEST_F(Files, WhatWasCommittedIsReadBack) {
  write_text(folder_ / "a", "one");
  write_text(folder_ / "a", "two");
  EXPECT_EQ(read_text(folder_ / "a"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, WithoutCommitTheOldFileStaysAndNothingIsLeftBehind) {
  write_text(folder_ / "a", "one");
  {
    AtomicFile file(folder_ / "a");
    file.write("half");
  }
  EXPECT_EQ(read_text(folder_ / "a"), "one");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, AFileThatIsNotReadyHasNoNameWhereTheSystemCanDoThat) {
  write_text(folder_ / "a", "one");
  AtomicFile file(folder_ / "a"), other(folder_ / "b");
  file.write("two"), other.write("three");
  const auto files = std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  EXPECT_EQ(files, 1 + (file.part().empty() ? 0 : 1) + (other.part().empty() ? 0 : 1));
  file.commit(), other.commit();
  EXPECT_EQ(read_text(folder_ / "a"), "two");
  EXPECT_EQ(read_text(folder_ / "b"), "three");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(Files, AFileHasTheRightsThatTheUserGivesToAnyOther) {
  const mode_t before = umask(027);
  write_text(folder_ / "a", "one");
  umask(before);
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms(0640));
}

TEST_F(Files, APipeIsWrittenToAndStaysAPipe) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDWR);
  write_text(pipe, "text");
  char bytes[4];
  EXPECT_EQ(read(reader, bytes, 4), 4);
  EXPECT_EQ(std::string_view(bytes, 4), "text");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, ALinkStaysALink) {
  write_text(folder_ / "a", "one");
  fs::create_symlink("a", folder_ / "link");
  write_text(folder_ / "link", "two");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_text(folder_ / "a"), "two");
  EXPECT_THROW(AtomicFile{folder_}, Error);
}

TEST_F(Files, AMappingOutlivesItsObjectAndWritesStayPrivate) {
  write_text(folder_ / "a", "text");
  std::shared_ptr<std::byte> memory = MappedFile(folder_ / "a").memory();
  memory.get()[0] = std::byte{'T'};
  EXPECT_EQ(read_text(folder_ / "a"), "text");
}

TEST_F(Files, ErrorsNameTheFile) {
  try {
    MappedFile file(folder_ / "missing");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::not_found);
    EXPECT_NE(std::string(e.what()).find("missing"), std::string::npos);
  }
  EXPECT_THROW(MappedFile{folder_}, Error);
  EXPECT_THROW(AtomicFile{folder_ / "no" / "such"}, Error);
  write_text(folder_ / "empty", "");
  EXPECT_EQ(read_text(folder_ / "empty"), "");
}

// Names that the system refuses are Errors that name them, never exceptions of std::filesystem.
TEST_F(Files, OddPathsAreErrorsThatNameThem) {
  write_text(folder_ / "file", "text");
  fs::create_symlink("nowhere", folder_ / "dangling");
  fs::create_symlink("loop2", folder_ / "loop1");
  fs::create_symlink("loop1", folder_ / "loop2");
  const fs::path odd[] = {folder_ / std::string(5000, 'x'), folder_ / "loop1", folder_ / "loop1" / "x"};
  for (const fs::path& path : odd) {
    EXPECT_THROW(path_exists(path), Error) << path;
    EXPECT_THROW(is_folder(path), Error) << path;
    EXPECT_THROW(read_text(path), Error) << path;
    EXPECT_THROW(write_text(path, "x"), Error) << path;
  }
  for (const fs::path& path : {folder_ / "file" / "x", folder_ / "dangling", folder_ / "missing", fs::path()}) {
    EXPECT_FALSE(path_exists(path)) << path;
    EXPECT_FALSE(is_folder(path)) << path;
    EXPECT_THROW(read_text(path), Error) << path;
  }
  EXPECT_THROW(write_text(folder_ / "file" / "x", "x"), Error);
  EXPECT_TRUE(is_folder(folder_));
  EXPECT_TRUE(path_exists(folder_ / "file"));
}

}  // namespace
}  // namespace fovea
