// The features of a picture's parts, by convolutions: each knows its part and a little around it, and where it is.
//
//   x = relu(convolution 4×4, stride 2)   as often as a part's size is halved to 1, with twice the channels each time; an even
//                                         kernel, so that what a part knows lies around its middle, not around its corner
//   x = relu(convolution k×k)             for each further layer; with k = 1 a part learns nothing more of its neighbours
//   a = norm(x + P)                       P the learned positions of the parts
//
//   PictureGrid grid({.image_size = 64, .patch_size = 8, .width = 128});
//   Tensor features = grid(pixels);                    // [batch, 3, 64, 64] → [batch, 64, 128]
#pragma once

#include <vector>

#include "fovea/nn/convolution.h"
#include "fovea/nn/norm.h"

namespace fovea {

class PictureGrid final {
 public:
  struct Config {
    int64_t channels = 3, image_size = 64, patch_size = 8, width = 128, layers = 1, kernel = 3;

    int64_t patches() const { return image_size / patch_size; }  // along each axis
  };
  explicit PictureGrid(const Config&);  // an Error if the sizes do not go together

  Tensor operator()(const Tensor& pixels) const;
  void weights(Weights& w);

 private:
  Config config_;
  std::vector<Conv2d> convolutions_;
  Weight positions_;
  LayerNorm norm_;
};

}  // namespace fovea
