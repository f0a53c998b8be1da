// A label for a picture, and where the model looked.
//
//   const SeenPicture seen = classify_picture(pretrained, read_picture_input(pretrained.folder), read_image("photo.jpg"));
#pragma once

#include "fovea/data/image/picture_input.h"
#include "fovea/generate/classify.h"
#include "fovea/models/pretrained.h"

namespace fovea {

// Where the class token looked: in the last layer, the mean over heads or each head by itself; or through all layers (rollout).
enum class Look { none, last, heads, rollout };
Look look_named(const std::string& name);  // an Error that lists them

struct SeenPicture {
  Classified label;
  std::vector<std::vector<double>> looks =
      {};  // how much it looked at each patch, row by row: one, or one for each head
};

struct SeePictureOptions {
  Look look = Look::none;
  Trace* trace = nullptr;  // of all weights, or all that they are made of
};

// Attention rollout (Abnar and Zuidema 2020): what the first so many tokens are made of, [count, tokens], as their rows of the identity
// carried down from the last layer to the first,
//   r ← ½ r + ½ r A,   A the mean over a layer's heads, [tokens, tokens]
Tensor rollout(const std::vector<Tensor>& layers, int64_t count);

// [1, channels, height, width], as the model reads it; an Error if its input gives others.
Tensor picture_pixels(const Pretrained&, const PictureInput&, const Image&);
Classified classify_pixels(const PictureLabeller&, const Tensor& pixels, const Context&);

// Labels alone, of several pictures at once: the same bits as one by one.
std::vector<Classified> classify_pictures(const Pretrained&, const PictureInput&, const std::vector<Image>&);

// An Error if the model labels no pictures, or reads others than the input gives.
SeenPicture classify_picture(const Pretrained&, const PictureInput&, const Image&, const SeePictureOptions& = {});

}  // namespace fovea
