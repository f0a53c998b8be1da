#include "fovea/data/image/image.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/image/codecs.h"
#include "fovea/data/image/picture_input.h"
#include "fovea/formats/safetensors.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path golden = std::filesystem::path(test_data) / "golden";

Tensor expected(const std::string& name) {
  static const SafeTensors file(golden / "pictures.safetensors");
  return file.tensors().at(name);
}

std::vector<std::byte> bytes_of(const std::string& name) {
  const MappedFile file(golden / "pictures" / name);
  return {file.bytes().begin(), file.bytes().end()};
}

// Pictures are [height, width, channels] there.
double largest_difference(const Image& image, const Tensor& wanted) {
  EXPECT_EQ(wanted.shape(), (Shape{image.height, image.width, image.channels}));
  double largest = 0;
  for (size_t i = 0; i < image.pixels.size(); ++i)
    largest = std::max(largest, std::abs(image.pixels[i] - double{wanted.data<float>()[i]}));
  return largest;
}

// tests/golden/make_pictures.py
TEST(Image, PngIsReadAsPillowReadsIt) {
  for (const std::string name : {"rgb", "grey", "bits", "palette", "alpha", "sixteen", "turned"})
    EXPECT_EQ(largest_difference(read_image(golden / "pictures" / (name + ".png")), expected(name)), 0) << name;
}

TEST(Image, JpegIsReadAsPillowReadsIt) {
  for (const std::string name : {"photo", "grey_photo", "progressive", "inks"})
    EXPECT_LE(largest_difference(read_image(golden / "pictures" / (name + ".jpg")), expected(name)), 1) << name;
}

TEST(Image, IsTurnedAsItsOrientationSays) {
  for (int orientation = 2; orientation <= 8; ++orientation) {
    const std::string name = "turned" + std::to_string(orientation);
    EXPECT_LE(largest_difference(read_image(golden / "pictures" / (name + ".jpg")), expected(name)), 1) << name;
  }
}

TEST(Image, ResizesAsPillowDoes) {
  const Image rgb = read_image(golden / "pictures" / "rgb.png");
  const std::pair<const char*, Filter> filters[] = {{"nearest", Filter::nearest},   {"box", Filter::box},
                                                    {"bilinear", Filter::bilinear}, {"hamming", Filter::hamming},
                                                    {"bicubic", Filter::bicubic},   {"lanczos", Filter::lanczos}};
  for (const auto& [name, filter] : filters)
    for (const auto& [width, height] : {std::pair{7, 5}, {23, 6}, {50, 41}, {11, 17}})
      EXPECT_EQ(largest_difference(resized(rgb, width, height, filter),
                                   expected(fmt::format("resize.{}.{}x{}", name, width, height))),
                0)
          << name << " " << width << " " << height;
  EXPECT_EQ(largest_difference(grey(rgb), expected("grey_of_rgb")), 0);
}

TEST(Image, CropsAndMirrors) {
  Image image = {3, 2, 1, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(mirrored(image).pixels, (std::vector<uint8_t>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(cropped(image, 1, 0, 2, 2).pixels, (std::vector<uint8_t>{2, 3, 5, 6}));
  EXPECT_EQ(cropped(image, -1, -1, 3, 2).pixels, (std::vector<uint8_t>{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(cropped(image, 9, 0, 2, 1).pixels, (std::vector<uint8_t>{0, 0}));
}

TEST(Image, IsReadAsItWasWritten) {
  const Image rgb = read_image(golden / "pictures" / "rgb.png");
  const std::string bytes = png_bytes(rgb), one = png_bytes(grey(rgb));
  EXPECT_EQ(parse_image(std::as_bytes(std::span(bytes)), "written").pixels, rgb.pixels);
  EXPECT_EQ(grey(parse_image(std::as_bytes(std::span(one)), "written")).pixels, grey(rgb).pixels);
}

TEST(Image, EveryTruncationIsAnErrorThatNamesTheFile) {
  for (const std::string name : {"rgb.png", "palette.png", "photo.jpg", "progressive.jpg"}) {
    const std::vector<std::byte> whole = bytes_of(name);
    for (size_t size = 0; size + 12 < whole.size(); size += 7) {
      try {
        parse_image({whole.data(), size}, "cut.png");
        ADD_FAILURE() << name << " of " << size << " bytes was read";
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).substr(0, 8), "cut.png:") << e.what();
      }
    }
  }
}

// A header that asks for four thousand million pixels.
TEST(Image, SizesAreLimitedBeforeMemoryIsTaken) {
  std::vector<std::byte> huge = bytes_of("rgb.png");
  const unsigned char header[] = {0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF, 8, 2, 0, 0, 0};
  for (size_t i = 0; i < sizeof(header); ++i) huge[16 + i] = std::byte{header[i]};
  for (size_t i = 29; i < 33; ++i) huge[i] = std::byte{0};  // whatever its checksum is, it is not read
  EXPECT_THROW(parse_image(huge, "huge.png"), Error);
  EXPECT_THROW(check_picture_size(100'000, 100'000, "huge"), Error);
  EXPECT_THROW(check_picture_size(0, 5, "empty"), Error);
  EXPECT_NO_THROW(check_picture_size(10'000, 10'000, "large"));
}

TEST(Exif, OrientationsOfBothByteOrdersAndNoneBeyond) {
  auto bytes = [](std::vector<int> values) {
    std::vector<std::byte> b;
    for (int v : values) b.push_back(static_cast<std::byte>(v));
    return b;
  };
  EXPECT_EQ(exif_orientation(bytes({'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0})), 6);
  EXPECT_EQ(exif_orientation(bytes({'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0})), 8);
  EXPECT_EQ(exif_orientation(bytes({'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0})), 1);
  EXPECT_EQ(exif_orientation(bytes({'I', 'I', 42, 0, 255, 255, 255, 255})), 1);
  EXPECT_EQ(exif_orientation({}), 1);
}

void expect_input(const PictureInput& input, const std::string& name) {
  const Tensor pixels = input(read_image(golden / "pictures" / "photo.jpg")), wanted = expected(name);
  ASSERT_EQ(pixels.shape(), wanted.shape());
  for (int64_t i = 0; i < pixels.elements(); ++i)  // a grey level is 2 / 255
    ASSERT_NEAR(pixels.data<float>()[i], wanted.data<float>()[i], 2.01 / 255) << name << " " << i;
}

TEST(PictureInput, IsWhatTransformersHandsToTheModel) {
  expect_input({.height = 12, .width = 10}, "input.vit");
  expect_input({.do_center_crop = true, .resample = 3, .height = 20, .width = 20, .crop_height = 14, .crop_width = 14},
               "input.deit");
}

TEST(PictureInput, ReadsBothSpellingsOfSizesAndRefusesNonsense) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("fovea-input-{}", getpid());
  std::filesystem::create_directories(folder);
  auto read = [&](std::string_view json) {
    write_text(folder / "preprocessor_config.json", json);
    return read_picture_input(folder);
  };
  EXPECT_EQ(read(R"({"size": 384, "feature_extractor_type": "ViTFeatureExtractor", "unheard_of": 1})").height, 384);
  EXPECT_EQ(read(R"({"size": {"height": 32, "width": 48}, "image_mean": [0.5], "image_std": [0.25]})").width, 48);
  const PictureInput edge = read(R"({"size": {"shortest_edge": 10}, "do_center_crop": false})");
  const Image wide = edge.fitted({40, 24, 3, std::vector<uint8_t>(40 * 24 * 3)});
  EXPECT_EQ(wide.width, 16);
  EXPECT_EQ(wide.height, 10);
  for (const char* bad : {R"({"size": 0})", R"({"size": 1e9})", R"({"resample": 9})", R"({"image_mean": []})",
                          R"({"image_std": [0, 1, 1]})", R"({"size": {"height": "large"}})", R"([1])", "{"})
    EXPECT_THROW(read(bad), Error) << bad;
  write_picture_input(folder, {.height = 28, .width = 28, .image_mean = {0.3}, .image_std = {0.35}});
  EXPECT_EQ(read_picture_input(folder).channels(), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fovea
