// Files: read by mapping them into memory, written beside their place and renamed, so that nobody sees half a file.
//
//   MappedFile file("model.safetensors");              // file.bytes() until the last copy of file.memory() is gone
//   AtomicFile out("y.npy");  out.write(data, size);  out.commit();
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

class MappedFile final {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // an Error of kind not_found or io

  std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(memory_.get()), size_}; }
  // Pages are private: writing to them changes neither the file nor what others see.
  const std::shared_ptr<std::byte>& memory() const { return memory_; }

 private:
  std::shared_ptr<std::byte> memory_;
  size_t size_ = 0;
};

// A device or pipe is written to as it is; behind a symbolic link the file is replaced, not the link. Until commit() the file
// has no name where the file system can do that, so that whatever ends the process leaves nothing behind.
class AtomicFile final {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  // without commit() nothing is left behind
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();  // on the disk and under its name

  // The name that the file has until then, if the file system needs one: PATH.part-PID.
  const std::filesystem::path& part() const { return part_; }

 private:
  bool open_nameless();
  void give_name();

  std::filesystem::path path_, part_;
  bool in_place_ = false;  // a device or pipe
  int descriptor_ = -1;
};

// As std::filesystem's, but a name that is too long, a loop of links or a folder that may not be entered is an Error of kind io.
bool path_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace fovea
