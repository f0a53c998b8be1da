#include "fovea/models/picture_grid.h"

#include <algorithm>
#include <bit>

#include "fovea/models/family.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

constexpr int64_t least_channels = 8;

PictureGrid::Config checked(const PictureGrid::Config& c) {
  for (const auto& [name, size] :
       {std::pair{"image_size", c.image_size}, {"patch_size", c.patch_size}, {"width", c.width}})
    check_size("grid of features", name, size);
  check_layers("grid of features", "layers", c.layers);
  require(c.kernel % 2 == 1 && c.kernel > 0 && c.kernel <= 31,
          "grid of features: found a kernel of {}, expected 1, 3, 5 … 31", c.kernel);
  require(c.channels == 1 || c.channels == 3, "grid of features: found {} channels, expected 1 or 3", c.channels);
  require(std::has_single_bit(static_cast<uint64_t>(c.patch_size)) && c.patch_size > 1,
          "grid of features: found patches of {}, expected a power of two: 2, 4, 8 …", c.patch_size);
  require(c.image_size <= 16384 && c.image_size % c.patch_size == 0,
          "grid of features: found pictures of {} and patches of {}, expected a multiple, and at most 16384",
          c.image_size, c.patch_size);
  return c;
}

}  // namespace

PictureGrid::PictureGrid(const Config& c)
    : config_(checked(c)), positions_(Shape{1, c.patches() * c.patches(), c.width}), norm_({.width = c.width}) {
  int64_t inputs = c.channels;
  for (int64_t left = c.patch_size / 2; left > 0; left /= 2) {
    const int64_t outputs = left == 1 ? c.width : std::max(least_channels, c.width / left);
    convolutions_.emplace_back(
        Conv2d::Config{.inputs = inputs, .outputs = outputs, .kernel = 4, .stride = 2, .padding = 1});
    inputs = outputs;
  }
  for (int64_t i = 0; i < c.layers; ++i)
    convolutions_.emplace_back(
        Conv2d::Config{.inputs = c.width, .outputs = c.width, .kernel = c.kernel, .padding = c.kernel / 2});
}

Tensor PictureGrid::operator()(const Tensor& pixels) const {
  require(pixels && pixels.rank() == 4 && pixels.size(1) == config_.channels && pixels.size(2) == config_.image_size &&
              pixels.size(3) == config_.image_size,
          "picture: found pixels {}, expected [batch, {}, {}, {}]", pixels ? pixels.shape().text() : "missing",
          config_.channels, config_.image_size, config_.image_size);
  Tensor x = pixels;
  for (const Conv2d& convolution : convolutions_) x = relu(convolution(x));
  const Tensor parts = x.reshape({x.size(0), x.size(1), x.size(2) * x.size(3)}).transpose(1, 2).contiguous();
  return norm_(parts + *positions_);
}

void PictureGrid::weights(Weights& w) {
  w("convolutions", convolutions_);
  w("positions", positions_, {Init::normal, 0.02});
  w("norm", norm_);
}

}  // namespace fovea
