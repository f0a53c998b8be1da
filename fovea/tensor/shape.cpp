#include "fovea/tensor/shape.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

Shape::Shape(std::span<const int64_t> sizes) {
  for (int64_t size : sizes) push_back(size);
}

void Shape::throw_no_axis(int axis) const {
  throw Error(Error::invalid, "axis {}: the shape {} has {} axes", axis, text(), rank_);
}

Shape Shape::contiguous_strides() const {
  Shape strides = *this;
  int64_t stride = 1;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    strides.sizes_[axis] = stride;
    stride *= std::max<int64_t>(1, sizes_[axis]);
  }
  return strides;
}

std::string Shape::text() const {
  std::string result = "[";
  for (int axis = 0; axis < rank_; ++axis) result += fmt::format("{}{}", axis ? ", " : "", sizes_[axis]);
  return result + "]";
}

void Shape::push_back(int64_t size) { insert(rank_, size); }

void Shape::insert(int axis, int64_t size) {
  require(rank_ < most, "shape {}: found one more axis, expected at most {}", *this, most);
  std::copy_backward(sizes_.begin() + axis, sizes_.begin() + rank_, sizes_.begin() + rank_ + 1);
  sizes_[axis] = size;
  ++rank_;
}

void Shape::erase(int axis) {
  axis = axis_index(axis);
  std::copy(sizes_.begin() + axis + 1, sizes_.begin() + rank_, sizes_.begin() + axis);
  --rank_;
}

bool Shape::operator==(const Shape& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

Shape broadcast(const Shape& a, const Shape& b, const char* operation) {
  Shape result = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  for (int axis = 1; axis <= shorter.rank(); ++axis) {
    int64_t x = result[-axis], y = shorter[-axis];
    require(x == y || x == 1 || y == 1, "{}: found shapes {} and {}, expected axes that are equal or 1", operation, a,
            b);
    result[-axis] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace fovea
