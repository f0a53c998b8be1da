#include "fovea/data/datasets/pictures.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <functional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/datasets/files.h"
#include "fovea/data/image/image.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

std::string number(uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}
std::string idx_pictures(uint32_t count, uint32_t height, uint32_t width, const std::string& pixels) {
  return number(0x803) + number(count) + number(height) + number(width) + pixels;
}
std::string idx_labels(uint32_t count, const std::string& labels) { return number(0x801) + number(count) + labels; }

class Pictures : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, std::string_view bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    write_text(folder_ / name, bytes);
    return (folder_ / name).string();
  }
  std::string packed(const std::string& name, const std::string& bytes) const {
    const std::string path = (folder_ / name).string();
    gzFile out = gzopen(path.c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    return path;
  }
  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  std::string error_of_idx(const std::string& pictures, const std::string& labels) const {
    const std::string first = file("a", pictures), second = file("b", labels);
    Dataset data;
    return error_of([&] { read_idx(first, second, data); });
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "pictures";
};

Image picture_of(const Example& e) { return parse_image(bytes_of(e.source), "picture"); }

TEST_F(Pictures, AnIdxFileIsReadWithTheLabelsBesideIt) {
  const std::string pixels("\x00\x01\x02\x03\x04\x05\xff\xfe\xfd\xfc\xfb\xfa", 12);
  packed("t10k-labels-idx1-ubyte.gz", idx_labels(2, "\x03\x09"));
  const std::string path = packed("t10k-images-idx3-ubyte.gz", idx_pictures(2, 2, 3, pixels));
  Dataset data({.names = {"9=boot"}});
  read_file(path, ExampleKind::pictures, data);
  ASSERT_EQ(data.size(), 2);
  EXPECT_EQ(data[0].label, "3");
  EXPECT_EQ(data[1].label, "boot");
  const Image second = picture_of(data[1]);
  EXPECT_EQ(second.width, 3);
  EXPECT_EQ(second.height, 2);
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(second.at(0, 0, c), 0xff);
    EXPECT_EQ(second.at(1, 1, c), 0xfb);
  }
  EXPECT_EQ(data.files().at(0).good, 2);
}

TEST_F(Pictures, OfAFolderOfIdxFilesThoseToLearnFromAreRead) {
  file("train-labels-idx1-ubyte", idx_labels(1, "\x05"));
  file("train-images-idx3-ubyte", idx_pictures(1, 1, 1, "a"));
  file("t10k-images-idx3-ubyte", "of no use here");
  Dataset data;
  read_pictures(folder_.string(), data);
  ASSERT_EQ(data.size(), 1);
  EXPECT_EQ(data[0].label, "5");
}

TEST_F(Pictures, SizesOfIdxFilesThatDoNotAgreeAreErrors) {
  const std::string labels = idx_labels(2, "ab");
  EXPECT_NE(error_of_idx(idx_pictures(2, 2, 2, "1234123"), labels).find("found the end at byte 23, expected"),
            std::string::npos);
  EXPECT_NE(error_of_idx(idx_pictures(2, 2, 2, "123412345"), labels).find("found bytes behind the last of its 2"),
            std::string::npos);
  EXPECT_NE(error_of_idx(idx_pictures(3, 1, 1, "123"), labels).find("found 2 labels, expected 3 as in"),
            std::string::npos);
  EXPECT_NE(error_of_idx(labels, labels).find("found the first bytes 00000801, expected 00000803"), std::string::npos);
  EXPECT_NE(error_of_idx(idx_pictures(2, 0, 4, ""), labels).find("found a picture of 4 × 0"), std::string::npos);
  EXPECT_NE(
      error_of_idx(idx_pictures(0xffffffff, 10000, 10000, ""), idx_labels(0xffffffff, "")).find("expected at most"),
      std::string::npos);
  const std::string alone = file("x-images-idx3-ubyte", idx_pictures(1, 1, 1, "a"));
  Dataset data;
  EXPECT_NE(error_of([&] { read_pictures(alone, data); }).find("found no x-labels-idx1-ubyte beside it"),
            std::string::npos);
}

TEST_F(Pictures, ABatchOfCifarHasItsColoursInPlanesAndItsNamesBesideIt) {
  std::string record(1 + 3072, '\0');
  record[0] = 1;
  record[1 + 33] = 10, record[1 + 1024 + 33] = 20, record[1 + 2048 + 33] = 30;  // row 1, column 1
  file("batches.meta.txt", "airplane\nautomobile\n\n");
  file("data_batch_2.bin", record);
  file("data_batch_1.bin", record + record);
  file("test_batch.bin", record);
  Dataset data;
  read_pictures(folder_.string(), data);
  ASSERT_EQ(data.size(), 3);
  EXPECT_EQ(data[0].label, "automobile");
  const Image picture = picture_of(data[2]);
  EXPECT_EQ(picture.at(1, 1, 0), 10);
  EXPECT_EQ(picture.at(1, 1, 1), 20);
  EXPECT_EQ(picture.at(1, 1, 2), 30);
  EXPECT_EQ(picture.at(0, 0, 0), 0);
  EXPECT_NE(error_of([&] { read_cifar(file("cut.bin", record.substr(0, 99)), {}, data); }).find("cut short"),
            std::string::npos);
  record[0] = 10;
  EXPECT_NE(error_of([&] { read_cifar(file("label.bin", record), {}, data); }).find("found the label 10 of picture 0"),
            std::string::npos);
}

TEST_F(Pictures, AFolderForEachLabelAndWhatIsNoPictureIsCounted) {
  const Image red = {2, 1, 3, {255, 0, 0, 255, 0, 0}};
  file("rose/b.png", png_bytes(red));
  file("rose/a.ppm", pnm_bytes(red));
  file("rose/notes.txt", "not a picture");
  file("rose/.hidden", "not a picture either");
  file("tulip/1.png", png_bytes({1, 1, 1, {7}}));
  file("tulip/cut.png", png_bytes(red).substr(0, 40));
  file("README", "passed over");
  Dataset data;
  read_pictures(folder_.string(), data);
  ASSERT_EQ(data.size(), 3);
  EXPECT_EQ(data[0].label, "rose");
  EXPECT_EQ(data[2].label, "tulip");
  EXPECT_EQ(picture_of(data[0]).pixels, red.pixels);
  EXPECT_EQ(picture_of(data[1]).pixels, red.pixels);
  EXPECT_EQ(picture_of(data[2]).pixels, (std::vector<uint8_t>{7, 7, 7}));
  EXPECT_EQ(data.bad().count, 2);
  EXPECT_NE(data.bad().first.find("rose/notes.txt"), std::string::npos) << data.bad().first;
  Dataset strict({.strict = true});
  EXPECT_NE(error_of([&] { read_pictures(folder_.string(), strict); }).find("rose/notes.txt"), std::string::npos);
}

TEST_F(Pictures, AFolderWithoutPicturesSaysWhatWasExpected) {
  Dataset data;
  EXPECT_NE(error_of([&] { read_pictures(folder_.string(), data); }).find("expected one with pictures for each label"),
            std::string::npos);
  fs::create_directories(folder_ / "rose");
  EXPECT_NE(error_of([&] { read_pictures(folder_.string(), data); }).find("expected a folder of PNG or JPEG files"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_pictures((folder_ / "none").string(), data); }).find("is not there"),
            std::string::npos);
}

TEST(Pnm, HeadsAreReadAsTheFormatHasThemAndDamagedOnesAreErrors) {
  const auto parsed = [](const std::string& text) { return parse_image(bytes_of(text), "x"); };
  const Image grey = parsed(std::string("P5 # a comment\n#another\n 2\t1\n255 ") + "\x01\xff");
  EXPECT_EQ(grey.pixels, (std::vector<uint8_t>{1, 1, 1, 255, 255, 255}));
  for (const char* bad : {"P5", "P5 ", "P5 2", "P5 2 1 255", "P5 2 1 255\n", "P5 2 1 255\na", "P5 0 1 255\n",
                          "P6 1 1 65535\nabcdef", "P5 99999999999 1 255\n", "P5 -1 1 255\n", "P5 2 1 #"})
    EXPECT_THROW(parsed(bad), Error) << bad;
}

}  // namespace
}  // namespace fovea
