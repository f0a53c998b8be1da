// The sizes of a tensor's axes, up to eight, without a heap allocation.
//
//   Shape s = {2, 3, 4};   s[-1] == 4;   s.elements() == 24;   s.text() == "[2, 3, 4]"
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace fovea {

class Shape final {
 public:
  static constexpr int most = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return sizes_[axis_index(axis)]; }  // −1 is the last axis
  int64_t& operator[](int axis) { return sizes_[axis_index(axis)]; }
  int axis_index(int axis) const {  // 0 … rank − 1, or an Error
    int index = axis < 0 ? axis + rank_ : axis;
    if (index < 0 || index >= rank_) throw_no_axis(axis);
    return index;
  }

  int64_t* begin() { return sizes_.data(); }
  int64_t* end() { return sizes_.data() + rank_; }
  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + rank_; }
  int64_t elements() const {
    int64_t product = 1;
    for (int64_t size : *this) product *= size;
    return product;
  }
  Shape contiguous_strides() const;
  std::string text() const;

  void push_back(int64_t size);
  void insert(int axis, int64_t size);
  void erase(int axis);
  bool operator==(const Shape& other) const;

 private:
  [[noreturn]] void throw_no_axis(int axis) const;

  std::array<int64_t, most> sizes_{};
  int rank_ = 0;
};

// The shape that both reach by repeating axes of size 1, as NumPy does it; an Error that names `operation` if there is
// none.
Shape broadcast(const Shape& a, const Shape& b, const char* operation);

}  // namespace fovea

// A shape can be given to an Error as it is; the text is made only if the Error is.
template <>
struct fmt::formatter<fovea::Shape> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const fovea::Shape& shape, Context& context) const {
    const std::string text = shape.text();
    return std::copy(text.begin(), text.end(), context.out());
  }
};
