#include "fovea/formats/disk_tensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fovea {
namespace {

constexpr uint64_t page = 4096;

[[noreturn]] void fail() {
  throw Error(Error::io, "a temporary file cannot be written: {}; TMPDIR may name a folder with more room",
              std::strerror(errno));
}

int nameless_file(const std::filesystem::path& folder) {
  const int made = open(folder.empty() ? "." : folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (made >= 0) return made;
  std::string name = (std::filesystem::temp_directory_path() / "fovea-XXXXXX").string();
  const int other = mkostemp(name.data(), O_CLOEXEC);
  if (other < 0) fail();
  unlink(name.c_str());
  return other;
}

}  // namespace

DiskTensors::DiskTensors(const std::filesystem::path& folder, const std::map<std::string, Entry>& entries)
    : descriptor_(nameless_file(folder)) {
  uint64_t end = 0;
  for (const auto& [name, entry] : entries) {
    places_[name] = {entry, end};
    end += (places_[name].bytes() + page - 1) / page * page;
  }
  if (ftruncate(descriptor_, static_cast<off_t>(end)) != 0) fail();
}

DiskTensors::~DiskTensors() { close(descriptor_); }

void DiskTensors::write(const std::string& name, int64_t first, const Tensor& part) {
  const auto found = places_.find(name);
  require(found != places_.end(), "disk tensors: found a part of '{}', which was not told of", name);
  const auto& [entry, begin] = found->second;
  require(part.dtype() == entry.type && first >= 0 && first <= entry.shape.elements() - part.elements(),
          "disk tensors: found {} numbers of '{}' from {} on, expected them within {} of type {}", part.elements(),
          name, first, entry.shape.elements(), fovea::name(entry.type));
  const Tensor rows = part.detach().contiguous();
  const std::byte* bytes = rows.bytes();
  uint64_t at = begin + static_cast<uint64_t>(first) * size_of(entry.type),
           left = static_cast<uint64_t>(rows.elements()) * size_of(entry.type);
  while (left > 0) {
    const ssize_t written = pwrite(descriptor_, bytes, left, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    const auto count = static_cast<uint64_t>(written);
    bytes += count, at += count, left -= count;
  }
}

NamedTensors DiskTensors::tensors() const {
  NamedTensors all;
  for (const auto& [name, place] : places_) {
    const size_t size = place.bytes();
    if (size == 0) {
      all[name] = Tensor(place.entry.shape, place.entry.type);
      continue;
    }
    void* memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor_, static_cast<off_t>(place.begin));
    if (memory == MAP_FAILED) fail();
    all[name] = Tensor(place.entry.shape, place.entry.type,
                       std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                                  [size](std::byte* mapped) { munmap(mapped, size); }));
  }
  return all;
}

}  // namespace fovea
