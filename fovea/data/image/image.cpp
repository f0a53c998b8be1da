#include "fovea/data/image/image.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/image/codecs.h"

namespace fovea {
namespace {

// As EXIF numbers them: 2 to 4 are flips, 5 to 8 swap the axes.
Image upright(const Image& image, int orientation) {
  if (orientation < 2 || orientation > 8) return image;
  const bool swapped = orientation >= 5;
  Image turned = {swapped ? image.height : image.width, swapped ? image.width : image.height, image.channels, {}};
  turned.pixels.resize(image.pixels.size());
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (int64_t y = 0; y < turned.height; ++y)
    for (int64_t x = 0; x < turned.width; ++x) {
      const int64_t across = swapped ? y : x, down = swapped ? x : y;
      const int64_t from_x = from_right ? image.width - 1 - across : across;
      const int64_t from_y = from_below ? image.height - 1 - down : down;
      for (int64_t c = 0; c < image.channels; ++c) turned.at(x, y, c) = image.at(from_x, from_y, c);
    }
  return turned;
}

}  // namespace

bool is_image(std::span<const std::byte> bytes) { return is_png(bytes) || is_jpeg(bytes) || is_pnm(bytes); }

Image parse_image(std::span<const std::byte> bytes, std::string_view where) {
  if (!is_image(bytes))
    throw Error(Error::corrupt,
                "{}: found {} bytes that begin neither as PNG nor as JPEG, PGM or PPM, expected a picture", where,
                bytes.size());
  const DecodedImage decoded = is_png(bytes)   ? decode_png(bytes, where)
                               : is_pnm(bytes) ? decode_pnm(bytes, where)
                                               : decode_jpeg(bytes, where);
  return upright(decoded.image, decoded.orientation);
}

Image read_image(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_image(file.bytes(), path.string());
}

void check_picture_size(int64_t width, int64_t height, std::string_view where) {
  if (width < 1 || height < 1 || width > most_pixels / height)
    throw Error(Error::unsupported, "{}: found a picture of {} × {}, expected at least 1 × 1 and at most {} pixels",
                where, width, height, most_pixels);
}

Image grey(const Image& image) {
  if (image.channels == 1) return image;
  Image result = {image.width, image.height, 1, {}};
  result.pixels.reserve(image.pixels.size() / 3);
  for (size_t i = 0; i + 2 < image.pixels.size(); i += 3) {
    // Pillow's weights in units of 2⁻¹⁶
    const uint32_t sum = image.pixels[i] * 19595u + image.pixels[i + 1] * 38470u + image.pixels[i + 2] * 7471u;
    result.pixels.push_back(static_cast<uint8_t>((sum + 0x8000u) >> 16));
  }
  return result;
}

Image cropped(const Image& image, int64_t x, int64_t y, int64_t width, int64_t height) {
  check_picture_size(width, height, "crop");
  Image part = {width, height, image.channels,
                std::vector<uint8_t>(static_cast<size_t>(width * height * image.channels))};
  const int64_t left = std::max<int64_t>(0, -x), right = std::min(width, image.width - x);
  for (int64_t row = 0; row < height; ++row)
    if (row + y >= 0 && row + y < image.height && left < right)
      std::copy_n(&image.pixels[static_cast<size_t>(((row + y) * image.width + x + left) * image.channels)],
                  (right - left) * image.channels, &part.at(left, row, 0));
  return part;
}

Image mirrored(const Image& image) { return upright(image, 2); }

}  // namespace fovea
