// From a picture to what a model reads, as preprocessor_config.json says: resized, cropped, scaled, normalised.
//
//   const PictureInput input = read_picture_input("vit-folder");
//   Tensor pixels = input(read_image("photo.jpg"));              // [channels, height, width]
#pragma once

#include "fovea/base/fields.h"
#include "fovea/data/image/image.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct PictureInput {
  bool do_resize = true, do_center_crop = false, do_rescale = true, do_normalize = true;
  int64_t resample = 2;  // Pillow's numbers: 0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box, 5 hamming
  int64_t height = 224, width = 224, shortest_edge = 0;  // one edge, and the other in proportion, if it is given
  int64_t crop_height = 224, crop_width = 224;
  double rescale_factor = 1.0 / 255;
  std::vector<double> image_mean = {0.5, 0.5, 0.5},
                      image_std = {0.5, 0.5, 0.5};  // one for each channel, 1 of them: grey

  void fields(Fields& f);
  void check(std::string_view where) const;  // an Error for what makes no sense

  int64_t channels() const { return static_cast<int64_t>(image_mean.size()); }
  Image fitted(const Image&) const;              // of the size that the model reads
  Tensor normalised(const Image& fitted) const;  // [channels, height, width]
  Tensor operator()(const Image&) const;         // both
};

// As the folder's preprocessor_config.json has it; the default if there is none.
PictureInput read_picture_input(const std::filesystem::path& folder);
void write_picture_input(const std::filesystem::path& folder, const PictureInput&);

}  // namespace fovea
