#include "fovea/data/image/pictures.h"

#include "fovea/base/error.h"

namespace fovea {

int64_t Pictures::add(const std::filesystem::path& path) {
  const auto known = numbers_.find(path.string());
  if (known != numbers_.end()) return known->second;
  const int64_t number = add(read_image(path));
  numbers_.emplace(path.string(), number);
  return number;
}

int64_t Pictures::add(const Image& picture) {
  const Image image = input_.fitted(picture);
  if (size() == 0) width_ = image.width, height_ = image.height;
  require(image.width == width_ && image.height == height_,
          "pictures: found one of {} × {} pixels behind those of {} × {}, expected one size; give both edges",
          image.width, image.height, width_, height_);
  records_.add({reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()});
  return size() - 1;
}

Image Pictures::operator[](int64_t number) const {
  const std::string_view bytes = records_[number];
  return {width_, height_, input_.channels(), {bytes.begin(), bytes.end()}};
}

Tensor Pictures::batch(std::span<const int64_t> numbers) const {
  Tensor all({static_cast<int64_t>(numbers.size()), input_.channels(), height_, width_}, DType::f32);
  for (size_t i = 0; i < numbers.size(); ++i)
    all.select(0, static_cast<int64_t>(i)).copy_from(input_.numbers((*this)[numbers[i]]));
  return all;
}

}  // namespace fovea
