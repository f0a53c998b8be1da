// Tensors whose numbers wait on the disk instead of in memory until all are there: a file without a name, gone with the last of them.
//
//   DiskTensors all(folder, {{"x", {DType::f32, {heads, rows}}}});
//   for (int64_t h = 0; h < heads; ++h) all.write("x", h * rows, head(h));
//   write_safetensors(path, all.tensors());
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "fovea/formats/safetensors.h"

namespace fovea {

class DiskTensors final {
 public:
  struct Entry {
    DType type = DType::f32;
    Shape shape = {};
  };
  // The file is made in this folder or, where that cannot be, among the system's temporary ones.
  DiskTensors(const std::filesystem::path& folder, const std::map<std::string, Entry>&);
  ~DiskTensors();
  DiskTensors(const DiskTensors&) = delete;
  DiskTensors& operator=(const DiskTensors&) = delete;

  // Numbers of the tensor's type from its element `first` on; what is never written is 0. An Error if they do not fit.
  void write(const std::string& name, int64_t first, const Tensor& part);

  NamedTensors tensors() const;  // views of the file, each mapped

 private:
  struct Place {
    Entry entry;
    uint64_t begin = 0;  // bytes, a multiple of a page

    uint64_t bytes() const { return static_cast<uint64_t>(entry.shape.elements()) * size_of(entry.type); }
  };
  int descriptor_ = -1;
  std::map<std::string, Place> places_;
};

}  // namespace fovea
