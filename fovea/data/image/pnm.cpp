// PGM and PPM in bytes (P5, P6): a head of three numbers, then the pixels as they are.
#include "fovea/base/error.h"
#include "fovea/data/image/codecs.h"

namespace fovea {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The next number of the head, which comments may stand before; −1 if there is none or it has more than nine digits.
int64_t take_number(std::string_view& text) {
  while (!text.empty() && (is_space(text[0]) || text[0] == '#')) {
    const size_t end = text[0] == '#' ? text.find('\n') : 0;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  int64_t number = 0, digits = 0;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), ++digits)
    if (digits < 9) number = 10 * number + (text[0] - '0');
  return digits == 0 || digits > 9 ? -1 : number;
}

}  // namespace

bool is_pnm(std::span<const std::byte> bytes) {
  return bytes.size() > 2 && bytes[0] == std::byte('P') && (bytes[1] == std::byte('5') || bytes[1] == std::byte('6')) &&
         is_space(static_cast<char>(bytes[2]));
}

DecodedImage decode_pnm(std::span<const std::byte> bytes, std::string_view where) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const int64_t channels = text[1] == '5' ? 1 : 3;
  text.remove_prefix(2);
  const int64_t width = take_number(text), height = take_number(text), most = take_number(text);
  check_picture_size(width, height, where);
  if (most != 255)
    throw Error(Error::unsupported, "{}: found {} as the lightest grey level, expected 255", where, most);
  const auto size = static_cast<size_t>(width * height * channels);
  if (text.size() < size + 1)
    throw Error(Error::corrupt, "{}: found {} bytes of pixels, expected {}; the file was probably cut short", where,
                text.empty() ? 0 : text.size() - 1, size);
  text.remove_prefix(1);
  Image image = {width, height, 3, {}};
  image.pixels.reserve(static_cast<size_t>(width * height * 3));
  for (size_t i = 0; i < size; ++i)
    image.pixels.insert(image.pixels.end(), channels == 1 ? 3 : 1, static_cast<uint8_t>(text[i]));
  return {std::move(image), 1};
}

std::string pnm_bytes(const Image& image) {
  std::string bytes = fmt::format("P{} {} {} 255\n", image.channels == 1 ? 5 : 6, image.width, image.height);
  bytes.append(reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size());
  return bytes;
}

}  // namespace fovea
