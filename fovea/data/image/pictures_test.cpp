#include "fovea/data/image/pictures.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

Image shaded(int64_t width, int64_t height, int seed) {
  Image image = {.width = width, .height = height, .pixels = {}};
  for (int64_t i = 0; i < width * height * 3; ++i) image.pixels.push_back(static_cast<uint8_t>(seed * 31 + i * 7));
  return image;
}

PictureInput of_size(int64_t size) {
  PictureInput input;
  input.height = input.width = size;
  return input;
}

TEST(PictureFiles, ABatchHasTheNumbersOfEachPicture) {
  for (const size_t channels : {3u, 1u}) {
    PictureInput input = of_size(6);
    input.image_mean.resize(channels), input.image_std.resize(channels);
    Pictures pictures(input);
    const std::vector<Image> given = {shaded(6, 6, 1), shaded(12, 5, 2), shaded(3, 9, 3)};
    for (const Image& image : given) pictures.add(image);
    EXPECT_EQ(pictures.size(), 3);
    const std::vector<int64_t> order = {2, 0, 2};
    const Tensor batch = pictures.batch(order);
    ASSERT_EQ(batch.shape(), Shape({3, static_cast<int64_t>(channels), 6, 6}));
    for (size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(batch.select(0, static_cast<int64_t>(i)).values<float>(),
                input(given[static_cast<size_t>(order[i])]).values<float>());
  }
}

TEST(PictureFiles, AFileIsReadOnce) {
  const auto path = std::filesystem::path(testing::TempDir()) / "one.png";
  write_text(path, png_bytes(shaded(4, 4, 1)));
  Pictures pictures(of_size(4));
  EXPECT_EQ(pictures.add(path), 0);
  std::filesystem::remove(path);
  EXPECT_EQ(pictures.add(path), 0);
  EXPECT_EQ(pictures[0].pixels, shaded(4, 4, 1).pixels);
  EXPECT_THROW(pictures.add(std::filesystem::path(testing::TempDir()) / "missing.png"), Error);
}

TEST(PictureFiles, OfDifferentSizesAreAnError) {
  PictureInput input = of_size(4);
  input.do_resize = false;
  Pictures pictures(input);
  pictures.add(shaded(4, 4, 1));
  EXPECT_THROW(pictures.add(shaded(4, 5, 1)), Error);
}

}  // namespace
}  // namespace fovea
