// Pictures: PNG, JPEG, PGM and PPM as people have them, as rows of red, green and blue.
//
//   const Image photo = read_image("photo.jpg");       // upright, as its EXIF orientation says
//   const Image small = resized(photo, 224, 224, Filter::bicubic);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Image {
  int64_t width = 0, height = 0;
  int64_t channels = 3;  // 3: red, green, blue; 1: grey
  std::vector<uint8_t> pixels = {};

  uint8_t at(int64_t x, int64_t y, int64_t channel) const { return pixels[index(x, y, channel)]; }
  uint8_t& at(int64_t x, int64_t y, int64_t channel) { return pixels[index(x, y, channel)]; }
  size_t row(int64_t y) const { return index(0, y, 0); }  // where it begins among the pixels

 private:
  size_t index(int64_t x, int64_t y, int64_t channel) const {
    return static_cast<size_t>((y * width + x) * channels + channel);
  }
};

// The most pixels that a file may ask memory for; a larger picture is an Error.
inline constexpr int64_t most_pixels = 100'000'000;

// Three channels of eight bits, whatever the file has: grey, palettes and CMYK are converted, sixteen bits rounded, transparency is
// left out as Pillow's convert("RGB") does. An Error if the file is no picture, ends too early, or is too large.
Image read_image(const std::filesystem::path& path);
Image parse_image(std::span<const std::byte> bytes, std::string_view where);
bool is_image(std::span<const std::byte> bytes);  // by its first bytes

std::string png_bytes(const Image&);  // as a PNG file
std::string pnm_bytes(const Image&);  // as a PGM or PPM file: a short head, and the pixels as they are

// An Error unless it has at least one pixel and at most most_pixels.
void check_picture_size(int64_t width, int64_t height, std::string_view where);

Image grey(const Image&);  // (299 r + 587 g + 114 b) / 1000

enum class Filter { nearest, box, bilinear, hamming, bicubic, lanczos };

// Antialiased where it becomes smaller, with Pillow's weights and roundings.
Image resized(const Image&, int64_t width, int64_t height, Filter);
// The part that begins at x, y; what lies outside of the picture is black.
Image cropped(const Image&, int64_t x, int64_t y, int64_t width, int64_t height);
Image mirrored(const Image&);  // left is right

}  // namespace fovea
