#include <png.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/data/image/codecs.h"

namespace fovea {
namespace {

// What libpng's calls share. Its errors jump: between png_jump and the call that fails nothing may need a destructor.
struct Reading {
  std::span<const std::byte> rest;
  char message[200] = "";
};

void on_error(png_structp png, png_const_charp text) {
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  std::strncpy(reading->message, text, sizeof(reading->message) - 1);
  png_longjmp(png, 1);
}

void read_bytes(png_structp png, png_bytep to, size_t count) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (count > reading->rest.size()) png_error(png, "the file ends too early");
  std::memcpy(to, reading->rest.data(), count);
  reading->rest = reading->rest.subspan(count);
}

struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  explicit Png(Reading& reading) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, on_error, [](png_structp, png_const_charp) {});
    if (png) info = png_create_info_struct(png);
    if (!info) throw std::bad_alloc();
    png_set_read_fn(png, &reading, read_bytes);
    png_set_user_limits(png, 1u << 30, 1u << 30);  // the product is limited below
    png_set_chunk_malloc_max(png, 64u << 20);
  }
  ~Png() { png_destroy_read_struct(&png, &info, nullptr); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
};

// Each of these is one jump's reach; false if libpng jumped.
bool read_header(const Png& p) {
  if (setjmp(png_jmpbuf(p.png))) return false;
  png_read_info(p.png, p.info);
  return true;
}

bool to_rgb(const Png& p) {
  if (setjmp(png_jmpbuf(p.png))) return false;
  png_set_expand(p.png);  // palettes, fewer than eight bits, transparent colours
  png_set_scale_16(p.png);
  png_set_strip_alpha(p.png);
  png_set_gray_to_rgb(p.png);
  png_set_interlace_handling(p.png);
  png_read_update_info(p.png, p.info);
  return true;
}

bool read_rows(const Png& p, png_bytepp rows) {
  if (setjmp(png_jmpbuf(p.png))) return false;
  png_read_image(p.png, rows);
  png_read_end(p.png, p.info);
  return true;
}

int orientation_of(const Png& p) {
  png_uint_32 size = 0;
  png_bytep bytes = nullptr;
  if (png_get_eXIf_1(p.png, p.info, &size, &bytes) == 0) return 1;
  return exif_orientation({reinterpret_cast<const std::byte*>(bytes), size});
}

// One jump's reach, as above.
bool write_rows(png_structp png, png_infop info, const Image& image, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), 8,
               image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, info);
  return true;
}

}  // namespace

std::string png_bytes(const Image& image) {
  check_picture_size(image.width, image.height, "picture");
  std::string bytes;
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < image.height; ++y) rows.push_back(const_cast<png_bytep>(&image.pixels[image.row(y)]));
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  bool written = false;
  if (info) {
    png_set_write_fn(
        png, &bytes,
        [](png_structp p, png_bytep data, size_t count) {
          static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<const char*>(data), count);
        },
        nullptr);
    written = write_rows(png, info, image, rows.data());
  }
  png_destroy_write_struct(&png, &info);
  if (!written) throw std::bad_alloc();
  return bytes;
}

bool is_png(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) == 0;
}

DecodedImage decode_png(std::span<const std::byte> bytes, std::string_view where) {
  Reading reading{bytes};
  const Png p(reading);
  auto require_png = [&](bool done) {
    if (!done) throw Error(Error::corrupt, "{}: found a PNG file that cannot be read ({})", where, reading.message);
  };
  require_png(read_header(p));
  DecodedImage decoded;
  Image& image = decoded.image;
  image.width = png_get_image_width(p.png, p.info), image.height = png_get_image_height(p.png, p.info);
  check_picture_size(image.width, image.height, where);
  require_png(to_rgb(p));
  const size_t row_bytes = static_cast<size_t>(image.width) * 3;
  if (png_get_rowbytes(p.png, p.info) != row_bytes)
    throw Error(Error::unsupported, "{}: found a PNG file with rows of {} bytes, expected {}", where,
                png_get_rowbytes(p.png, p.info), row_bytes);
  image.pixels.resize(row_bytes * static_cast<size_t>(image.height));
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < image.height; ++y) rows.push_back(&image.at(0, y, 0));
  require_png(read_rows(p, rows.data()));
  decoded.orientation = orientation_of(p);
  return decoded;
}

}  // namespace fovea
