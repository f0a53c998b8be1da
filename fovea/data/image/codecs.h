// The bytes of one kind of picture as pixels, and how it is to be turned.
//
//   if (is_png(bytes)) return decode_png(bytes, "photo.png").image;
#pragma once

#include "fovea/data/image/image.h"

namespace fovea {

struct DecodedImage {
  Image image;
  int orientation = 1;  // EXIF's, 1 to 8
};

bool is_png(std::span<const std::byte> bytes);
bool is_jpeg(std::span<const std::byte> bytes);
bool is_pnm(std::span<const std::byte> bytes);
DecodedImage decode_png(std::span<const std::byte> bytes, std::string_view where);
DecodedImage decode_jpeg(std::span<const std::byte> bytes, std::string_view where);
DecodedImage decode_pnm(std::span<const std::byte> bytes, std::string_view where);

// The orientation that EXIF data (a small TIFF) tells; 1 if it tells none.
int exif_orientation(std::span<const std::byte> tiff);

}  // namespace fovea
