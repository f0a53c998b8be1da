// PyTorch's .pt and .bin files: a zip with a pickle that says which tensors there are, and their numbers beside it. Nothing is run that the
// pickle asks for (pickle.h), and numbers are read when they are asked for.
//
//   const TorchFile file("tiny.en.pt");
//   file.integers().at("dims.n_mels");   file.tensors();   file.numbers("model_state_dict.decoder.ln.weight");
#pragma once

#include <map>
#include <memory>

#include "fovea/formats/pickle.h"
#include "fovea/formats/safetensors.h"
#include "fovea/formats/zip.h"

namespace fovea {

class TorchFile final {
 public:
  explicit TorchFile(const std::filesystem::path& path);

  struct Entry {
    std::string storage;
    DType type = DType::f32;
    int64_t offset = 0;  // in elements
    Shape shape = {}, strides = {};
  };
  // By the keys on the way to them, with points between.
  const std::map<std::string, Entry>& tensors() const { return tensors_; }
  const std::map<std::string, int64_t>& integers() const { return integers_; }
  Tensor numbers(const std::string& name) const;  // an Error if the file has too few of them

 private:
  void add(const Pickle&, Pickle::Place, const std::string& path, int depth);
  void add_tensor(const Pickle::Value&, const std::string& path);

  std::string where_, folder_;
  std::unique_ptr<ZipArchive> archive_;
  std::map<std::string, Entry> tensors_;
  std::map<std::string, int64_t> integers_;
  size_t visited_ = 0;  // values on all ways from the root
};

}  // namespace fovea
