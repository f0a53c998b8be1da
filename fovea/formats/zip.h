// The files inside a .zip, read whole (through libzip).
//
//   for (ZipArchive zip("a.npz"); const std::string& name : zip.names()) std::string bytes = zip.read(name);
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct zip;

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
  std::string where_;
  zip* archive_;
};

// Entries are stored without compression, as NumPy's savez does it.
void write_zip(const std::filesystem::path& path, const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace fovea
