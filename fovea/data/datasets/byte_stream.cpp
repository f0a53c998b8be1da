#include "fovea/data/datasets/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

ByteStream::ByteStream(const std::string& path) : path_(path), file_(nullptr) {
  require(!is_folder(path), "{}: found a folder, expected a file", path);
  errno = 0;
  file_ = gzopen(path.c_str(), "rbe");
  if (!file_)
    throw Error(errno == ENOENT ? Error::not_found : Error::io, "{}: cannot open: {}", path,
                errno == 0 ? "no memory" : std::strerror(errno));
  gzbuffer(file_, 1 << 17);
}

ByteStream::~ByteStream() { gzclose_r(file_); }

size_t ByteStream::read(char* into, size_t size) {
  const int count = gzread(file_, into, static_cast<unsigned>(size));
  int code = Z_OK;
  const char* text = gzerror(file_, &code);
  if (count < 0 || (count == 0 && code != Z_OK && code != Z_STREAM_END))
    throw Error(Error::corrupt, "{}: cannot read beyond byte {}: {}", path_, at_,
                code == Z_BUF_ERROR ? "the gzip ends too early" : text);
  at_ += count;
  return static_cast<size_t>(count);
}

std::string ByteStream::take(size_t size) {
  constexpr size_t portion = size_t{1} << 20;
  std::string bytes;
  while (bytes.size() < size) {
    const size_t had = bytes.size(), wanted = std::min(portion, size - had);
    bytes.resize(had + wanted);
    const size_t got = read(bytes.data() + had, wanted);
    bytes.resize(had + got);
    if (got == 0)
      throw Error(Error::corrupt, "{}: found the end at byte {}, expected {} more; the download was probably cut short",
                  path_, at_, size - had);
  }
  return bytes;
}

uint32_t ByteStream::take_number() {
  uint32_t number = 0;
  for (const char byte : take(4)) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

bool ByteStream::ended() {
  char byte = 0;
  if (read(&byte, 1) == 0) return true;
  gzungetc(static_cast<unsigned char>(byte), file_);
  --at_;
  return false;
}

}  // namespace fovea
