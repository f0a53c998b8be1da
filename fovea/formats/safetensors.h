// safetensors: an eight-byte length, a JSON header, then the numbers. Read by mapping the file: nothing is copied.
//
//   Tensor w = SafeTensors("model.safetensors")["encoder.weight"];       // or the folder, or its …index.json
//   write_safetensors("y.safetensors", {{"y", y}});
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "fovea/tensor/tensor.h"

namespace fovea {

using NamedTensors = std::map<std::string, Tensor>;

class SafeTensors final {
 public:
  // Every size and offset is checked here: a damaged file is an Error of kind corrupt, before any number is touched.
  explicit SafeTensors(const std::filesystem::path& path);

  const NamedTensors& tensors() const { return tensors_; }
  bool contains(const std::string& name) const { return tensors_.count(name) > 0; }
  const Tensor& operator[](const std::string& name) const;  // an Error if it is not there, or is skipped()
  // Its numbers are not needed soon: the memory that they took is free, and filled from the file again if they are read.
  void forget(const std::string& name) const;
  // Tensors of types that Fovea does not compute with (U8, BOOL, F8_E4M3 …), with the type's name.
  const std::map<std::string, std::string>& skipped() const { return skipped_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  void add_file(const std::filesystem::path& path);
  void add_index(const std::filesystem::path& path);

  std::filesystem::path path_;
  NamedTensors tensors_;
  std::map<std::string, std::string> metadata_, skipped_;
};

void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace fovea
