// What pictures go through before a model learns from them, so that it never sees the same one twice: mirrored, moved, mixed.
//
//   mix-up (Zhang et al. 2017):  x = λ xᵢ + (1 − λ) xⱼ,  loss = λ loss(yᵢ) + (1 − λ) loss(yⱼ),  λ ~ Beta(α, α)
//
//   const ChangedPictures changed = changes(pictures, input, random);      // the same for the same random
#pragma once

#include "fovea/base/fields.h"
#include "fovea/base/random.h"
#include "fovea/data/image/picture_input.h"

namespace fovea {

struct ChangedPictures {
  Tensor pixels;                  // [batch, channels, height, width]
  std::vector<int64_t> partners;  // the picture that each is mixed with
  Tensor own = {};                // [batch]: λ, how much of it is itself; no tensor: all

  bool mixes() const { return static_cast<bool>(own); }
};

struct PictureChanges {
  double flip = 0.5, crop = 0.1, mix_up = 0.2;

  void fields(Fields& f) {
    f("flip", flip, "share of the pictures that are mirrored in training, left to right");
    f("crop", crop, "they are moved by up to this share of their size: a random crop of the picture with a black edge");
    f("mix_up", mix_up, "α of Beta(α, α), by which two pictures and their labels are mixed; 0: none, at most 1");
  }
  void check() const;

  ChangedPictures operator()(const std::vector<Image>& fitted, const PictureInput&, const Random&) const;
};

Tensor pixels_of(const std::vector<Image>& fitted, const PictureInput&);  // [batch, channels, height, width]

// One number of Beta(α, α) for 0 < α ≤ 1 (Jöhnk 1964).
double beta(double alpha, const Random&);

}  // namespace fovea
