#include "fovea/data/text/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/formats/zip.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

class LinesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string written(const std::string& name, std::string_view text) const {
    write_text(folder_ / name, text);
    return path(name);
  }
  std::string gzipped(const std::string& name, const std::string& text) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path(name);
  }
  static Texts all(const std::string& path) {
    Texts result;
    Lines lines(path);
    for (std::string line; lines.next(line);) result.push_back(line);
    return result;
  }
  static std::string error_of(const std::string& path) {
    try {
      all(path);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_lines_" + std::to_string(getpid()));
};

TEST_F(LinesTest, EndingsOfEveryKind) {
  EXPECT_EQ(all(written("a", "")), Texts{});
  EXPECT_EQ(all(written("a", "\n")), Texts{""});
  EXPECT_EQ(all(written("a", "one\r\ntwo\n\nfour")), (Texts{"one", "two", "", "four"}));
  EXPECT_EQ(all(written("a", "\xef\xbb\xbfmark\nx\ry\n")), (Texts{"mark", "x\ry"}));
  EXPECT_EQ(all(written("a", std::string_view("a\0b\n", 4))), Texts{std::string("a\0b", 3)});
}

TEST_F(LinesTest, LinesAcrossTheReadersChunks) {
  std::string text;
  Texts expected;
  for (int i = 0; i < 3000; ++i) {
    expected.push_back(std::string(static_cast<size_t>(i * 7919 % 211), static_cast<char>('a' + i % 26)));
    text += expected.back() + (i % 3 ? "\n" : "\r\n");
  }
  expected.push_back(std::string(300000, 'z'));
  text += expected.back();
  EXPECT_EQ(all(written("plain", text)), expected);
  EXPECT_EQ(all(gzipped("x.gz", text)), expected);
  EXPECT_EQ(all(gzipped("without_its_ending", text)), expected);
  write_zip(path("x.zip"), {{"x.txt", text}});
  EXPECT_EQ(all(path("x.zip")), expected);
}

TEST_F(LinesTest, GzipsOneAfterTheOther) {
  const std::string a = read_text(gzipped("a.gz", "one\n")), b = read_text(gzipped("b.gz", "two\n"));
  EXPECT_EQ(all(written("ab.gz", a + b)), (Texts{"one", "two"}));
}

TEST_F(LinesTest, MembersOfAZip) {
  write_zip(path("a.zip"), {{"_about.txt", "no"}, {"folder/deu.txt", "yes"}, {"__MACOSX/folder/x", "no"}});
  EXPECT_EQ(all(path("a.zip")), Texts{"yes"});
  EXPECT_EQ(all(path("a.zip") + ":_about.txt"), Texts{"no"});
  EXPECT_NE(error_of(path("a.zip") + ":missing").find("a.zip:missing: "), std::string::npos);
  write_zip(path("b.zip"), {{"x", "1"}, {"y", "2"}});
  EXPECT_NE(error_of(path("b.zip")).find("found x, y; say which, as in "), std::string::npos);
  EXPECT_EQ(all(path("b.zip") + ":y"), Texts{"2"});
}

TEST_F(LinesTest, DamagedAndCutFilesAreErrors) {
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 40000; ++i) noise += static_cast<char>('a' + (x = x * 1664525 + 1013904223) % 26);
  const std::string gzip = read_text(gzipped("x.gz", noise + "\nend\n"));
  EXPECT_NE(error_of(written("cut.gz", gzip.substr(0, gzip.size() / 2))).find("cut.gz: damaged or cut gzip"),
            std::string::npos);
  EXPECT_NE(error_of(written("cut.gz", gzip.substr(0, gzip.size() - 3))).find("cut gzip"), std::string::npos);
  std::string flipped = gzip;
  flipped[gzip.size() / 2] = static_cast<char>(flipped[gzip.size() / 2] ^ 0x10);
  EXPECT_NE(error_of(written("flipped.gz", flipped)).find("damaged"), std::string::npos);
  write_zip(path("x.zip"), {{"x", noise}});
  std::string zip = read_text(path("x.zip"));
  EXPECT_NE(error_of(written("cut.zip", zip.substr(0, zip.size() / 2))), "no error");
  zip[zip.size() / 3] = static_cast<char>(zip[zip.size() / 3] ^ 1);
  EXPECT_NE(error_of(written("flipped.zip", zip)).find("damaged"), std::string::npos);
  EXPECT_NE(error_of(written("plain.gz", "text\n")).find("plain.gz: not a .gz file"), std::string::npos);
  EXPECT_NE(error_of(written("plain.zip", "text\n")).find("not a .zip file"), std::string::npos);
  EXPECT_NE(error_of(path("missing")).find("cannot open"), std::string::npos);
  EXPECT_NE(error_of(folder_.string()).find("found a folder"), std::string::npos);
}

TEST_F(LinesTest, InvalidUtf8NamesFileLineAndByte) {
  EXPECT_EQ(error_of(written("latin1.txt", "good\nna\xefve\n")).find(path("latin1.txt") + ":2: byte 2: found 0xef"),
            0u);
}

TEST_F(LinesTest, SaysWhetherItWouldWait) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  int writer = open(path("pipe").c_str(), O_RDWR);
  Lines lines(path("pipe"));
  const auto say = [&](std::string_view text) {
    ASSERT_EQ(write(writer, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  EXPECT_FALSE(lines.ready());
  say("one\ntw");
  std::string line;
  EXPECT_TRUE(lines.ready() && lines.next(line) && line == "one");
  EXPECT_FALSE(lines.ready());
  say("o\nrest");
  EXPECT_TRUE(lines.ready() && lines.next(line) && line == "two");
  EXPECT_FALSE(lines.ready());
  close(writer);
  EXPECT_TRUE(lines.ready() && lines.next(line) && line == "rest");
  EXPECT_TRUE(lines.ready());
  EXPECT_FALSE(lines.next(line));
}

TEST_F(LinesTest, ALineWithoutEndIsAnError) {
  EXPECT_EQ(all(written("long", std::string(Lines::longest, 'a') + "\nb")).size(), 2u);
  EXPECT_NE(error_of(written("long", "x\n" + std::string(Lines::longest + 200000, 'a'))).find("long:2: found a line"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea
