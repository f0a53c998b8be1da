// NumPy's files: .npy holds one array, .npz a zip of them.
//
//   Tensor x = read_npy("x.npy");   NamedTensors arrays = read_npz("batch.npz");
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "fovea/formats/safetensors.h"

namespace fovea {

// f2, f4, f8, i1 and i8 come as they are; b1 becomes i8, u1, i2, u2, i4 and u4 become i64. Fortran order is turned
// round.
Tensor read_npy(const std::filesystem::path& path);
Tensor parse_npy(std::span<const std::byte> bytes, std::string_view where);
NamedTensors read_npz(const std::filesystem::path& path);

void write_npy(const std::filesystem::path& path, const Tensor& tensor);
void write_npz(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace fovea
