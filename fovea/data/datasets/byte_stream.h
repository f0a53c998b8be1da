// The bytes of a file, plain or gzip, in portions of known sizes: nothing is held that was not read.
//
//   ByteStream file("train-images-idx3-ubyte.gz");
//   const std::string head = file.take(16);            // an Error if the file ends before
#pragma once

#include <cstdint>
#include <string>

struct gzFile_s;  // zlib's

namespace fovea {

class ByteStream final {
 public:
  explicit ByteStream(const std::string& path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  std::string take(size_t size);
  uint32_t take_number();  // four bytes, the most significant first
  bool ended();            // whether nothing comes any more
  const std::string& path() const { return path_; }

 private:
  size_t read(char* into, size_t size);

  std::string path_;
  gzFile_s* file_;
  int64_t at_ = 0;
};

}  // namespace fovea
