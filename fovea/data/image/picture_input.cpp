#include "fovea/data/image/picture_input.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

constexpr const char* file_name = "preprocessor_config.json";

Filter filter_of(int64_t resample) {
  constexpr Filter filters[] = {Filter::nearest, Filter::lanczos, Filter::bilinear,
                                Filter::bicubic, Filter::box,     Filter::hamming};
  return filters[resample];
}

}  // namespace

void PictureInput::fields(Fields& f) {
  f("do_resize", do_resize, "whether pictures are resized");
  f("size.height", height, "rows that the model reads");
  f("size.width", width, "columns that the model reads");
  if (f.reads() || shortest_edge > 0)
    f("size.shortest_edge", shortest_edge, "the shorter edge, if the other is in proportion");
  f("resample", resample, "0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box, 5 hamming");
  f("do_center_crop", do_center_crop, "whether the middle is cut out");
  f("crop_size.height", crop_height, "rows of the middle");
  f("crop_size.width", crop_width, "columns of the middle");
  f("do_rescale", do_rescale, "whether grey levels are multiplied");
  f("rescale_factor", rescale_factor, "by what");
  f("do_normalize", do_normalize, "whether the mean is subtracted and the deviation divided by");
  f.numbers("image_mean", image_mean);
  f.numbers("image_std", image_std);
  f.passed_over({"image_processor_type", "feature_extractor_type", "processor_class", "do_convert_rgb", "data_format",
                 "input_data_format", "return_tensors", "device", "do_pad", "pad_size", "default_to_square",
                 "disable_grouping"});
}

void PictureInput::check(std::string_view where) const {
  require(resample >= 0 && resample <= 5, "{}: found resample {}, expected 0 to 5", where, resample);
  require(!image_mean.empty() && (image_mean.size() == 1 || image_mean.size() == 3) &&
              image_mean.size() == image_std.size(),
          "{}: found {} means and {} deviations, expected 1 or 3 of each", where, image_mean.size(), image_std.size());
  for (int64_t size : {height, width, crop_height, crop_width})
    require(size > 0 && size <= 16384, "{}: found a size of {}, expected 1 to 16384", where, size);
  require(shortest_edge >= 0 && shortest_edge <= 16384, "{}: found a shortest edge of {}, expected 1 to 16384", where,
          shortest_edge);
  require(std::isfinite(rescale_factor), "{}: found a rescale_factor of {}, expected a number", where, rescale_factor);
  for (size_t i = 0; i < image_std.size(); ++i)
    require(std::isfinite(image_mean[i]) && std::isfinite(image_std[i]) && image_std[i] != 0,
            "{}: found a mean of {} and a deviation of {}, expected numbers, and no deviation of 0", where,
            image_mean[i], image_std[i]);
}

Image PictureInput::fitted(const Image& given) const {
  Image image = channels() == 1 ? grey(given) : given;
  if (do_resize) {
    int64_t w = width, h = height;
    if (shortest_edge > 0) {
      const int64_t shorter = std::min(image.width, image.height), longer = std::max(image.width, image.height);
      const int64_t other = shortest_edge * longer / shorter;
      w = image.width <= image.height ? shortest_edge : other, h = image.width <= image.height ? other : shortest_edge;
    }
    image = resized(image, w, h, filter_of(resample));
  }
  if (do_center_crop) {
    const auto half = [](int64_t outer, int64_t inner) {  // rounded down, also below zero
      return (outer - inner) / 2 - ((outer - inner) % 2 < 0 ? 1 : 0);
    };
    image = cropped(image, half(image.width, crop_width), half(image.height, crop_height), crop_width, crop_height);
  }
  return image;
}

Tensor PictureInput::numbers(const Image& image) const {
  Tensor pixels({image.channels, image.height, image.width}, DType::f32);
  float* to = pixels.data<float>();
  for (int64_t c = 0; c < image.channels; ++c) {
    const auto i = static_cast<size_t>(std::min<int64_t>(c, channels() - 1));
    const double factor = do_rescale ? rescale_factor : 1, mean = do_normalize ? image_mean[i] : 0;
    const double deviation = do_normalize ? image_std[i] : 1;
    std::array<float, 256> levels;
    for (size_t level = 0; level < levels.size(); ++level)
      levels[level] = static_cast<float>((static_cast<double>(level) * factor - mean) / deviation);
    for (int64_t y = 0; y < image.height; ++y)
      for (int64_t x = 0; x < image.width; ++x) *to++ = levels[image.at(x, y, c)];
  }
  return pixels;
}

PictureInput read_picture_input(const std::filesystem::path& folder) {
  PictureInput input;
  const std::filesystem::path file = folder / file_name;
  if (!path_exists(file)) return input;
  auto json = parse_json(read_text(file), file.string());
  for (const char* size : {"size", "crop_size"})  // older files have one number for both edges
    if (json.is_object() && json.contains(size) && json[size].is_number())
      json[size] = {{"height", json[size]}, {"width", json[size]}};
  from_foreign_json(json.dump(), input, file.string());
  input.check(file.string());
  return input;
}

void write_picture_input(const std::filesystem::path& folder, const PictureInput& input) {
  auto json = parse_json<nlohmann::ordered_json>(to_json(input), file_name);
  json["image_processor_type"] = "ViTImageProcessor";  // by which others find what reads this
  write_text(folder / file_name, json.dump(2) + "\n");
}

}  // namespace fovea
