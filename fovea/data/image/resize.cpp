// Resizing by two passes, one along each axis: every new pixel is a weighted mean of those below its filter, whose width grows
// with the step from pixel to pixel, so that what becomes smaller is smoothed. Weights are rounded to 22 bits, and each pass to
// whole grey levels, as Pillow does, so that the results are its own.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/data/image/codecs.h"

namespace fovea {
namespace {

constexpr int weight_bits = 22;

struct Kernel {
  double reach;
  double (*weight)(double x);
};

double sinc(double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }

Kernel kernel_of(Filter filter) {
  switch (filter) {
    case Filter::box:
      return {0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }};
    case Filter::hamming:
      return {1, [](double x) {
                x = std::abs(x);
                return x >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x));
              }};
    case Filter::bicubic:  // Keys (1981) with a = −1/2
      return {2, [](double x) {
                constexpr double a = -0.5;
                x = std::abs(x);
                if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
                return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0.0;
              }};
    case Filter::lanczos:
      return {3, [](double x) { return -3 <= x && x < 3 ? sinc(x) * sinc(x / 3) : 0; }};
    default:
      return {1, [](double x) { return std::max(0.0, 1 - std::abs(x)); }};
  }
}

// Which pixels make a new one, and with what weights.
struct Taps {
  int64_t first = 0;
  std::vector<int32_t> weights;
};

std::vector<Taps> taps_for(int64_t from, int64_t to, const Kernel& kernel) {
  const double step = static_cast<double>(from) / static_cast<double>(to), stretch = std::max(step, 1.0);
  const double reach = kernel.reach * stretch;
  std::vector<Taps> all;
  for (int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(centre - reach + 0.5));
    const int64_t end = std::min(from, static_cast<int64_t>(centre + reach + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (int64_t x = first; x < end; ++x) {
      weights.push_back(kernel.weight((static_cast<double>(x) - centre + 0.5) / stretch));
      sum += weights.back();
    }
    Taps taps = {first, {}};
    for (double w : weights)
      taps.weights.push_back(static_cast<int32_t>(std::round((sum == 0 ? w : w / sum) * (1 << weight_bits))));
    all.push_back(std::move(taps));
  }
  return all;
}

uint8_t grey_level(int64_t sum) { return static_cast<uint8_t>(std::clamp<int64_t>(sum >> weight_bits, 0, 255)); }

Image across(const Image& image, int64_t width, const Kernel& kernel) {
  Image result = {width, image.height, image.channels, {}};
  result.pixels.resize(static_cast<size_t>(width * image.height * image.channels));
  const std::vector<Taps> taps = taps_for(image.width, width, kernel);
  for (int64_t y = 0; y < image.height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < image.channels; ++c) {
        const Taps& t = taps[static_cast<size_t>(x)];
        const uint8_t* from = &image.pixels[static_cast<size_t>((y * image.width + t.first) * image.channels + c)];
        int64_t sum = 1 << (weight_bits - 1);
        for (int32_t w : t.weights) sum += int64_t{w} * *from, from += image.channels;
        result.at(x, y, c) = grey_level(sum);
      }
  return result;
}

Image down(const Image& image, int64_t height, const Kernel& kernel) {
  Image result = {image.width, height, image.channels, {}};
  const int64_t row = image.width * image.channels;
  result.pixels.resize(static_cast<size_t>(row * height));
  const std::vector<Taps> taps = taps_for(image.height, height, kernel);
  std::vector<int64_t> sums(static_cast<size_t>(row));
  for (int64_t y = 0; y < height; ++y) {
    const Taps& t = taps[static_cast<size_t>(y)];
    std::fill(sums.begin(), sums.end(), 1 << (weight_bits - 1));
    for (size_t k = 0; k < t.weights.size(); ++k) {
      const uint8_t* from = &image.pixels[static_cast<size_t>((t.first + static_cast<int64_t>(k)) * row)];
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += int64_t{t.weights[k]} * from[i];
    }
    std::transform(sums.begin(), sums.end(), &result.pixels[static_cast<size_t>(y * row)], grey_level);
  }
  return result;
}

Image nearest(const Image& image, int64_t width, int64_t height) {
  Image result = {width, height, image.channels, {}};
  result.pixels.resize(static_cast<size_t>(width * height * image.channels));
  auto source = [](int64_t i, int64_t from, int64_t to) {
    return static_cast<int64_t>((static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to));
  };
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < image.channels; ++c)
        result.at(x, y, c) = image.at(source(x, image.width, width), source(y, image.height, height), c);
  return result;
}

}  // namespace

Image resized(const Image& image, int64_t width, int64_t height, Filter filter) {
  check_picture_size(image.width, image.height, "resize");
  check_picture_size(width, height, "resize");
  check_picture_size(width, image.height, "resize");  // what lies between the passes
  if (filter == Filter::nearest) return nearest(image, width, height);
  const Kernel kernel = kernel_of(filter);
  const Image narrow = width == image.width ? image : across(image, width, kernel);
  return height == image.height ? narrow : down(narrow, height, kernel);
}

}  // namespace fovea
