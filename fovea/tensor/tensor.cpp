#include "fovea/tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/random.h"
#include "fovea/kernels/convert.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/storage.h"
#include "fovea/tensor/strided.h"

namespace fovea {
namespace {

// The shape itself, if the number of its bytes can be counted.
const Shape& checked(const Shape& shape, DType type) {
  const int64_t limit = INT64_MAX / 2 / static_cast<int64_t>(size_of(type));
  int64_t elements = 1;
  for (int64_t size : shape) {
    require(size >= 0, "tensor: found shape {}, expected sizes of 0 or more", shape);
    const int64_t factor = std::max<int64_t>(1, size);  // the strides of an empty tensor count its other axes
    require(elements <= limit / factor, "tensor: the shape {} is too large", shape);
    elements *= factor;
  }
  return shape;
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (std::is_class_v<From>)
    return convert<To>(to_float(x));
  else if constexpr (std::is_same_v<To, Float16>)
    return to_float16(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, BFloat16>)
    return to_bfloat16(static_cast<float>(x));
  else
    return static_cast<To>(x);
}

template <class To, class From>
void copy_elements(To* to, const Shape& to_strides, const From* from, const Shape& from_strides, const Shape& shape) {
  for_each_row<2>(shape, {to_strides, from_strides}, [&](const auto& at, int64_t count, const auto& step) {
    To* y = to + at[0];
    const From* x = from + at[1];
    if (std::is_same_v<To, From> && step[0] == 1 && step[1] == 1) {
      std::memcpy(static_cast<void*>(y), static_cast<const void*>(x), static_cast<size_t>(count) * sizeof(To));
    } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, Float16>) {
      if (step[0] == 1 && step[1] == 1) return kernels::float_of_half(count, &x->bits, y);
      for (int64_t i = 0; i < count; ++i) y[i * step[0]] = convert<To>(x[i * step[1]]);
    } else if (step[0] == 1 && step[1] == 1) {
      for (int64_t i = 0; i < count; ++i) y[i] = convert<To>(x[i]);
    } else if (step[0] == 1 && step[1] == 0) {
      std::fill_n(y, count, convert<To>(x[0]));
    } else {
      for (int64_t i = 0; i < count; ++i) y[i * step[0]] = convert<To>(x[i * step[1]]);
    }
  });
}

template <class T>
Tensor from_values(const Shape& shape, const std::vector<T>& values) {
  require(shape.elements() == static_cast<int64_t>(values.size()),
          "tensor: found {} numbers, expected {} for the shape {}", values.size(), shape.elements(), shape);
  Tensor result(shape, dtype_of<T>);
  std::copy(values.begin(), values.end(), result.data<T>());
  return result;
}

}  // namespace

Tensor::Tensor(Shape shape, DType type)
    : shape_(checked(shape, type)),
      strides_(shape.contiguous_strides()),
      dtype_(type),
      storage_(allocate_storage(static_cast<size_t>(shape.elements()) * size_of(type))) {}

Tensor::Tensor(Shape shape, DType type, std::shared_ptr<std::byte> memory)
    : shape_(checked(shape, type)), strides_(shape.contiguous_strides()), dtype_(type), storage_(std::move(memory)) {}

void Tensor::check_type(DType wanted) const {
  require(storage_ != nullptr, "tensor: found no tensor, expected one of {}", name(wanted));
  require(dtype_ == wanted, "tensor: found numbers of type {}, expected {}", name(dtype_), name(wanted));
}

bool Tensor::is_contiguous() const {
  int64_t expected = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] != 1 && strides_[axis] != expected) return elements() == 0;
    expected *= shape_[axis];
  }
  return true;
}

template <class T>
std::vector<T> Tensor::values() const {
  std::vector<T> result(static_cast<size_t>(elements()));
  with_type(dtype_, [&](auto* type) {
    using From = std::remove_pointer_t<decltype(type)>;
    copy_elements(result.data(), shape_.contiguous_strides(), data<From>(), strides_, shape_);
  });
  return result;
}
template std::vector<float> Tensor::values() const;
template std::vector<double> Tensor::values() const;
template std::vector<int8_t> Tensor::values() const;
template std::vector<int64_t> Tensor::values() const;

double Tensor::item() const {
  require(elements() == 1, "item: found a tensor {}, expected a single number", shape_);
  return values<double>()[0];
}

Tensor Tensor::view(Shape shape, Shape strides, int64_t offset) const {
  Tensor result = detach();
  result.shape_ = shape;
  result.strides_ = strides;
  result.offset_ = offset;
  return result;
}

Tensor Tensor::reshape(Shape shape) const {
  int64_t known = 1;
  int open = -1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == -1 && open < 0) {
      open = axis;
      continue;
    }
    require(shape[axis] >= 0, "reshape: found {}, expected sizes of 0 or more and at most one −1", shape);
    known *= shape[axis];
  }
  if (open >= 0) shape[open] = known > 0 ? elements() / known : 0;
  require(shape.elements() == elements(), "reshape: found {}, expected {} elements as in {}", shape, elements(),
          shape_);
  if (!is_contiguous()) return contiguous().reshape(shape);
  return with_gradient("reshape", view(shape, shape.contiguous_strides(), offset_), {*this},
                       [from = shape_](const Tensor& dy) { return Gradients{dy.reshape(from)}; });
}

Tensor Tensor::permute(std::initializer_list<int> axes) const {
  require(static_cast<int>(axes.size()) == rank(), "permute: found {} axes, expected {}", axes.size(), rank());
  Shape shape, strides, inverse = shape_;
  std::array<bool, Shape::most> used{};
  for (int axis : axes) {
    axis = shape_.axis_index(axis);
    require(!std::exchange(used[axis], true), "permute: axis {} is named twice", axis);
    inverse[axis] = shape.rank();
    shape.push_back(shape_[axis]);
    strides.push_back(strides_[axis]);
  }
  return with_gradient("permute", view(shape, strides, offset_), {*this}, [inverse](const Tensor& dy) {
    Shape back_shape, back_strides;
    for (int64_t axis : inverse) {
      back_shape.push_back(dy.size(static_cast<int>(axis)));
      back_strides.push_back(dy.stride(static_cast<int>(axis)));
    }
    return Gradients{dy.view(back_shape, back_strides, dy.offset_)};
  });
}

Tensor Tensor::transpose(int a, int b) const {
  Shape shape = shape_, strides = strides_;
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return with_gradient("transpose", view(shape, strides, offset_), {*this},
                       [a, b](const Tensor& dy) { return Gradients{dy.transpose(a, b)}; });
}

Tensor Tensor::slice(int axis, int64_t begin, int64_t end, int64_t step) const {
  axis = shape_.axis_index(axis);
  require(step >= 1 && 0 <= begin && begin <= end && end <= shape_[axis],
          "slice: found {}:{}:{}, expected 0 ≤ begin ≤ end ≤ {} and a positive step", begin, end, step, shape_[axis]);
  Shape shape = shape_, strides = strides_;
  shape[axis] = (end - begin + step - 1) / step;
  strides[axis] *= step;
  return with_gradient("slice", view(shape, strides, offset_ + begin * strides_[axis]), {*this},
                       [from = shape_, axis, begin, end, step](const Tensor& dy) {
                         Tensor dx = zeros(from, dy.dtype());
                         dx.slice(axis, begin, end, step).copy_from(dy);
                         return Gradients{dx};
                       });
}

Tensor Tensor::select(int axis, int64_t index) const {
  axis = shape_.axis_index(axis);
  require(0 <= index && index < shape_[axis], "select: found index {}, expected 0 to {}", index, shape_[axis] - 1);
  return slice(axis, index, index + 1).squeeze(axis);
}

Tensor Tensor::unsqueeze(int axis) const {
  Shape shape = shape_, strides = strides_;
  if (axis < 0) axis += rank() + 1;
  require(0 <= axis && axis <= rank(), "unsqueeze: found axis {}, expected 0 to {}", axis, rank());
  shape.insert(axis, 1);
  strides.insert(axis, 0);
  return with_gradient("unsqueeze", view(shape, strides, offset_), {*this},
                       [axis](const Tensor& dy) { return Gradients{dy.squeeze(axis)}; });
}

Tensor Tensor::squeeze(int axis) const {
  axis = shape_.axis_index(axis);
  require(shape_[axis] == 1, "squeeze: axis {} has size {}, expected 1", axis, shape_[axis]);
  Shape shape = shape_, strides = strides_;
  shape.erase(axis);
  strides.erase(axis);
  return with_gradient("squeeze", view(shape, strides, offset_), {*this},
                       [axis](const Tensor& dy) { return Gradients{dy.unsqueeze(axis)}; });
}

Tensor Tensor::expand(Shape shape) const {
  require(broadcast(shape_, shape, "expand") == shape, "expand: found {}, expected a shape that {} can be repeated to",
          shape, shape_);
  Shape strides = shape;
  for (int axis = 1; axis <= shape.rank(); ++axis) {
    bool given = axis <= rank() && shape_[-axis] == shape[-axis];
    strides[-axis] = given ? strides_[-axis] : 0;
  }
  return with_gradient("expand", view(shape, strides, offset_), {*this},
                       [from = shape_](const Tensor& dy) { return Gradients{sum_to(dy, from)}; });
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
  Tensor result(shape_, dtype_);
  result.copy_from(*this);
  return with_gradient("clone", result, {*this}, [](const Tensor& dy) { return Gradients{dy}; });
}

Tensor Tensor::to(DType type) const {
  if (type == dtype_) return *this;
  Tensor result(shape_, type);
  result.copy_from(*this);
  return with_gradient("to", result, {*this}, [from = dtype_](const Tensor& dy) { return Gradients{dy.to(from)}; });
}

void Tensor::copy_from(const Tensor& source) {
  Tensor from = source.detach().expand(shape_);
  with_type(dtype_, [&](auto* to_type) {
    with_type(from.dtype_, [&](auto* from_type) {
      using To = std::remove_pointer_t<decltype(to_type)>;
      using From = std::remove_pointer_t<decltype(from_type)>;
      copy_elements(data<To>(), strides_, static_cast<const Tensor&>(from).data<From>(), from.strides_, shape_);
    });
  });
}

void Tensor::fill(double value) { copy_from(tensor({}, std::vector<double>{value})); }

Tensor zeros(Shape shape, DType type) {
  Tensor result(shape, type);
  with_type(type, [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    std::memset(static_cast<void*>(result.data<T>()), 0, static_cast<size_t>(result.elements()) * sizeof(T));
  });
  return result;
}

Tensor ones(Shape shape, DType type) { return full(shape, 1, type); }

Tensor full(Shape shape, double value, DType type) {
  Tensor result(shape, type);
  result.fill(value);
  return result;
}

Tensor arange(int64_t count, DType type) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = i;
  return tensor({count}, values).to(type);
}

Tensor uniform(Shape shape, const Random& random, double low, double high, DType type) {
  Tensor result(shape, DType::f64);
  double* x = result.data<double>();
  parallel_ranges(result.elements(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x[i] = low + (high - low) * random.uniform(static_cast<uint64_t>(i));
  });
  return result.to(type);
}

Tensor normal(Shape shape, const Random& random, double mean, double deviation, DType type) {
  Tensor result(shape, DType::f64);
  double* x = result.data<double>();
  parallel_ranges(result.elements(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x[i] = mean + deviation * random.normal(static_cast<uint64_t>(i));
  });
  return result.to(type);
}

Tensor tensor(Shape shape, const std::vector<float>& values) { return from_values(shape, values); }
Tensor tensor(Shape shape, const std::vector<double>& values) { return from_values(shape, values); }
Tensor tensor(Shape shape, const std::vector<int64_t>& values) { return from_values(shape, values); }

}  // namespace fovea
