// Many pictures of one size, as a model reads them: decoded once, a byte for each number, and beyond a limit on disk.
//
//   Pictures pictures(input);   const int64_t number = pictures.add("photos/1.jpg");
//   Tensor pixels = pictures.batch(numbers);           // [pictures, channels, height, width]
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>

#include "fovea/data/image/picture_input.h"
#include "fovea/data/records.h"

namespace fovea {

class Pictures final {
 public:
  explicit Pictures(const PictureInput& input) : input_(input) {}

  int64_t add(const std::filesystem::path& path);  // its number; that of a path that was added before stays
  int64_t add(const Image&);
  int64_t size() const { return records_.size(); }
  Image operator[](int64_t number) const;  // of the size that the model reads
  Tensor batch(std::span<const int64_t> numbers) const;
  const PictureInput& input() const { return input_; }

 private:
  PictureInput input_;
  int64_t width_ = 0, height_ = 0;  // of all, once there is one
  Records records_;
  std::unordered_map<std::string, int64_t> numbers_;
};

}  // namespace fovea
