#include "fovea/data/records.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr size_t smallest = size_t{1} << 20, largest = size_t{1} << 26;
constexpr size_t page = 4096;

// A file without a name: it is gone when the last mapping is, whatever becomes of the process.
int nameless_file(size_t size) {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) throw Error(Error::io, "TMPDIR: found no folder to keep examples in: {}", error.message());
  std::string name = folder + "/fovea-XXXXXX";
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) throw Error(Error::io, "{}: cannot write: {}", folder, std::strerror(errno));
  unlink(name.c_str());
  // With its blocks set aside now a full disk is an Error here and not a signal at the first write.
  const int code = posix_fallocate(file, 0, static_cast<off_t>(size));
  if (code == 0) return file;
  close(file);
  throw Error(Error::io, "{}: cannot hold {} MB more: {}; TMPDIR names another folder", folder, size >> 20,
              std::strerror(code));
}

}  // namespace

void Records::grow(size_t needed) {
  size_t size = std::clamp(segments_.empty() ? smallest : capacity_ * 2, smallest, largest);
  size = (std::max(size, needed) + page - 1) / page * page;
  const bool disk = total_ + static_cast<int64_t>(size) > std::max(memory_, static_cast<int64_t>(smallest));
  const int file = disk ? nameless_file(size) : -1;
  void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, disk ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
  if (disk) close(file);
  if (address == MAP_FAILED) throw Error(Error::io, "examples: cannot map {} MB: {}", size >> 20, std::strerror(errno));
  segments_.emplace_back(static_cast<char*>(address), [size](char* p) { munmap(p, size); });
  capacity_ = size;
  used_ = 0;
  total_ += static_cast<int64_t>(size);
  on_disk_ = on_disk_ || disk;
}

void Records::add(std::string_view bytes) {
  if (segments_.empty() || bytes.size() > capacity_ - used_) grow(bytes.size());
  char* place = segments_.back().get() + used_;
  std::copy(bytes.begin(), bytes.end(), place);
  used_ += bytes.size();
  views_.emplace_back(place, bytes.size());
}

std::string_view Records::operator[](int64_t index) const {
  require(index >= 0 && index < size(), "records: found index {}, expected 0 to {}", index, size() - 1);
  return views_[static_cast<size_t>(index)];
}

}  // namespace fovea
