// Labelled pictures as people have them: a folder of PNG or JPEG files for each label, IDX files (MNIST's), CIFAR-10's batches.
//
//   Dataset data;   read_pictures("flowers", data);                  // flowers/rose/1.jpg, flowers/tulip/7.png …
//   parse_image(bytes_of(data[0].source), "picture");   data[0].label;     // "rose"
//
// The source of an example is the bytes of a picture's file; pictures of IDX and CIFAR files become PGM and PPM.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/datasets/dataset.h"

namespace fovea {

// A folder of folders; a folder that holds train-images-idx3-ubyte or data_batch_*.bin (those are read, what is for testing is not); or one
// such file: IDX with its labels beside it (t10k-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte.gz), or a .bin of CIFAR-10. Files of a
// label's folder that are no pictures are counted as bad lines; hidden ones are passed over.
void read_pictures(const std::string& path, Dataset& into);

// Plain or gzip, by their first bytes. An Error if sizes differ from what the files' heads say, or if there are other numbers of pictures and
// labels.
void read_idx(const std::string& pictures, const std::string& labels, Dataset& into);
// 32 × 32 in colours, 3073 bytes each. Labels are numbers where no names are given.
void read_cifar(const std::string& path, const std::vector<std::string>& names, Dataset& into);

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace fovea
