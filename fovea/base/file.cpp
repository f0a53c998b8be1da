#include "fovea/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* action) {
  Error::Kind kind = errno == ENOENT ? Error::not_found : Error::io;
  throw Error(kind, "{}: cannot {}: {}", path.string(), action, std::strerror(errno));
}

std::filesystem::file_status status_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::status_known(status) || (error && status.type() != std::filesystem::file_type::not_found))
    throw Error(Error::io, "{}: cannot be looked at: {}", path.string(), error.message());
  return status;
}

std::string part_name(const std::filesystem::path& path) { return path.string() + fmt::format(".part-{}", getpid()); }

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail(path, "open");
  struct stat status;
  if (fstat(file.number, &status) != 0) fail(path, "read");
  if (!S_ISREG(status.st_mode))
    throw Error(Error::invalid, "{}: found a folder or device, expected a file", path.string());
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void* address = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.number, 0);
  if (address == MAP_FAILED) fail(path, "map");
  memory_ = {static_cast<std::byte*>(address), [size = size_](std::byte* p) { munmap(p, size); }};
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  const std::filesystem::file_status status = status_of(path_);
  if (std::filesystem::is_directory(status))
    throw Error(Error::invalid, "{}: found a folder, expected a file", path_.string());
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    // Renaming would put a file in the place of the device or pipe.
    in_place_ = true;
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    std::error_code error;
    if (std::filesystem::is_symlink(path_, error) && std::filesystem::exists(status))
      path_ = std::filesystem::canonical(path_, error);
    if (!open_nameless()) {
      part_ = part_name(path_);
      descriptor_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
  }
  if (descriptor_ < 0) fail(path_, "write");
}

// Not every file system can, and the name is given through /proc.
bool AtomicFile::open_nameless() {
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  if (path_.filename().string().size() + 20 > NAME_MAX || access("/proc/self/fd", X_OK) != 0) return false;
  descriptor_ = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  return descriptor_ >= 0;
}

// A name that is taken cannot be linked to, only renamed to.
void AtomicFile::give_name() {
  const std::string file = fmt::format("/proc/self/fd/{}", descriptor_);
  if (linkat(AT_FDCWD, file.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
  if (errno != EEXIST) fail(path_, "write");
  part_ = part_name(path_);
  unlink(part_.c_str());
  if (linkat(AT_FDCWD, file.c_str(), AT_FDCWD, part_.c_str(), AT_SYMLINK_FOLLOW) != 0) fail(path_, "write");
  if (rename(part_.c_str(), path_.c_str()) != 0) fail(path_, "rename to");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (!part_.empty()) unlink(part_.c_str());
}

void AtomicFile::write(const void* data, size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t written = ::write(descriptor_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write");
    bytes += written;
    size -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (!in_place_ && fsync(descriptor_) != 0) fail(path_, "write");
  if (!in_place_ && part_.empty())
    give_name();
  else if (!in_place_ && rename(part_.c_str(), path_.c_str()) != 0)
    fail(path_, "rename to");
  close(std::exchange(descriptor_, -1));
}

bool path_exists(const std::filesystem::path& path) { return std::filesystem::exists(status_of(path)); }
bool is_folder(const std::filesystem::path& path) { return std::filesystem::is_directory(status_of(path)); }

std::string read_text(const std::filesystem::path& path) { return std::string(MappedFile(path).text()); }

void write_text(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace fovea
