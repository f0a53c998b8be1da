// Named tensors from and to any of the formats, chosen by the file's ending: .safetensors, .npz, .npy.
//
//   NamedTensors inputs = read_tensors("x.npz");   write_tensors("y.safetensors", {{"y", y}});
#pragma once

#include "fovea/formats/safetensors.h"

namespace fovea {

NamedTensors read_tensors(const std::filesystem::path& path);  // an .npy's array is named after its file
void write_tensors(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace fovea
