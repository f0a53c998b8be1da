#include "fovea/formats/tensors.h"

#include "fovea/formats/npy.h"

namespace fovea {
namespace {

[[noreturn]] void unknown_ending(const std::filesystem::path& path) {
  throw Error(Error::unsupported, "{}: found the ending '{}', expected .safetensors, .npz or .npy", path.string(),
              path.extension().string());
}

}  // namespace

NamedTensors read_tensors(const std::filesystem::path& path) {
  if (path.extension() == ".safetensors") return SafeTensors(path).tensors();
  if (path.extension() == ".npz") return read_npz(path);
  if (path.extension() == ".npy") return {{path.stem().string(), read_npy(path)}};
  unknown_ending(path);
}

void write_tensors(const std::filesystem::path& path, const NamedTensors& tensors) {
  if (path.extension() == ".safetensors") return write_safetensors(path, tensors);
  if (path.extension() == ".npz") return write_npz(path, tensors);
  if (path.extension() != ".npy") unknown_ending(path);
  require(tensors.size() == 1, "{}: found {} tensors, expected one; .npz and .safetensors hold several", path.string(),
          tensors.size());
  write_npy(path, tensors.begin()->second);
}

}  // namespace fovea
