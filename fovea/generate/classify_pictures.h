// A label for a picture, and where the model looked.
//
//   const SeenPicture seen = classify_picture(pretrained, read_picture_input(pretrained.folder), read_image("photo.jpg"));
#pragma once

#include "fovea/data/image/picture_input.h"
#include "fovea/generate/classify.h"
#include "fovea/models/pretrained.h"

namespace fovea {

struct SeenPicture {
  Classified label;
  std::vector<double> looked = {};  // if asked for: how much the class token looked at each patch, row by row
};

struct SeePictureOptions {
  bool looked = false;
};

// An Error if the model labels no pictures, or reads others than the input gives.
SeenPicture classify_picture(const Pretrained&, const PictureInput&, const Image&, const SeePictureOptions& = {});

}  // namespace fovea
