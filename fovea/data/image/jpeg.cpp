#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

#include <jerror.h>

#include "fovea/base/error.h"
#include "fovea/data/image/codecs.h"

namespace fovea {
namespace {

// libjpeg's errors jump: between setjmp and the call that fails nothing may need a destructor.
struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void give_up(j_common_ptr c) {
  auto* failure = reinterpret_cast<Failure*>(c->err);
  c->err->format_message(c, failure->message);
  std::longjmp(failure->jump, 1);
}

// Of the damage that libjpeg would paint over, the kinds that lose parts of the picture end the reading.
void on_message(j_common_ptr c, int level) {
  const int code = c->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE)) give_up(c);
}

struct Jpeg {
  jpeg_decompress_struct decoder = {};
  Failure failure = {};
  Jpeg() {
    decoder.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = give_up;
    failure.manager.emit_message = on_message;
    jpeg_create_decompress(&decoder);
    decoder.mem->max_memory_to_use = 512l << 20;
  }
  ~Jpeg() { jpeg_destroy_decompress(&decoder); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;
};

// Each of these is one jump's reach; false if libjpeg jumped.
bool read_header(Jpeg& j, std::span<const std::byte> bytes) {
  if (setjmp(j.failure.jump)) return false;
  jpeg_mem_src(&j.decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_save_markers(&j.decoder, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(&j.decoder, TRUE);
  return true;
}

bool start(Jpeg& j) {
  if (setjmp(j.failure.jump)) return false;
  const J_COLOR_SPACE stored = j.decoder.jpeg_color_space;
  j.decoder.out_color_space = stored == JCS_CMYK || stored == JCS_YCCK ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&j.decoder);
  return true;
}

// A scan costs time for every pixel: a file may not have more of them than a picture that is shown in steps needs.
bool read_rows(Jpeg& j, uint8_t* to, size_t row_bytes) {
  if (setjmp(j.failure.jump)) return false;
  while (j.decoder.output_scanline < j.decoder.output_height) {
    JSAMPROW row = to + j.decoder.output_scanline * row_bytes;
    jpeg_read_scanlines(&j.decoder, &row, 1);
  }
  jpeg_finish_decompress(&j.decoder);
  return true;
}

void limit_scans(Jpeg& j, jpeg_progress_mgr& progress) {
  progress = {};
  progress.progress_monitor = [](j_common_ptr c) {
    if (c->is_decompressor && reinterpret_cast<j_decompress_ptr>(c)->input_scan_number > 200) give_up(c);
  };
  j.decoder.progress = &progress;
}

// Inks as Adobe stores them, 255 for none: r = c k / 255
void cmyk_to_rgb(const std::vector<uint8_t>& inks, bool inverted, std::vector<uint8_t>& rgb) {
  auto light = [&](uint8_t ink) { return inverted ? ink : 255 - ink; };
  for (size_t i = 0; i + 3 < inks.size(); i += 4)
    for (size_t c = 0; c < 3; ++c)
      rgb.push_back(static_cast<uint8_t>((light(inks[i + c]) * light(inks[i + 3]) + 127) / 255));
}

int orientation_of(const Jpeg& j) {
  constexpr std::string_view name("Exif\0\0", 6);
  for (auto* m = j.decoder.marker_list; m; m = m->next) {
    const std::span<const std::byte> data(reinterpret_cast<const std::byte*>(m->data), m->data_length);
    if (data.size() > name.size() && std::memcmp(data.data(), name.data(), name.size()) == 0)
      return exif_orientation(data.subspan(name.size()));
  }
  return 1;
}

}  // namespace

bool is_jpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8} && bytes[2] == std::byte{0xFF};
}

DecodedImage decode_jpeg(std::span<const std::byte> bytes, std::string_view where) {
  Jpeg j;
  jpeg_progress_mgr progress;
  limit_scans(j, progress);
  auto require_jpeg = [&](bool done) {
    if (!done) throw Error(Error::corrupt, "{}: found a JPEG file that cannot be read ({})", where, j.failure.message);
  };
  require_jpeg(read_header(j, bytes));
  DecodedImage decoded;
  Image& image = decoded.image;
  image.width = j.decoder.image_width, image.height = j.decoder.image_height;
  check_picture_size(image.width, image.height, where);
  decoded.orientation = orientation_of(j);
  require_jpeg(start(j));
  const size_t row_bytes = static_cast<size_t>(image.width) * static_cast<size_t>(j.decoder.output_components);
  std::vector<uint8_t> samples(row_bytes * static_cast<size_t>(image.height));
  require_jpeg(read_rows(j, samples.data(), row_bytes));
  if (j.decoder.out_color_space == JCS_CMYK)
    cmyk_to_rgb(samples, j.decoder.saw_Adobe_marker != 0, image.pixels);
  else
    image.pixels = std::move(samples);
  return decoded;
}

}  // namespace fovea
