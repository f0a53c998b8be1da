// The files inside a .zip, read whole or piece by piece (through libzip).
//
//   for (ZipArchive zip("a.npz"); const std::string& name : zip.names()) std::string bytes = zip.read(name);
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct zip;
struct zip_file;

namespace fovea {

class ZipArchive final {
 public:
  explicit ZipArchive(const std::filesystem::path& path);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  std::vector<std::string> names() const;
  std::string read(const std::string& name) const;  // no more than the compressed bytes can possibly hold is allocated

 private:
  friend class ZipStream;
  std::string where_;
  zip* archive_;
};

// One file of an archive, which must live longer, without holding all of it.
class ZipStream final {
 public:
  ZipStream(const ZipArchive& archive, const std::string& name);
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;

  size_t read(char* into, size_t size);  // how many bytes; 0 at the end, after the checksum was found right

 private:
  std::string where_;
  zip_file* file_;
};

// Entries are stored without compression, as NumPy's savez does it.
void write_zip(const std::filesystem::path& path, const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace fovea
