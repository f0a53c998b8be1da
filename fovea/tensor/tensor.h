// A strided array of numbers with shared storage, and the tape of how it came to be if a gradient is wanted.
//
//   Tensor w = normal({4, 3}, Random(1)).require_gradient();
//   sum(matmul(x, w)).backward();                      // w.gradient() is [4, 3]
//
// A Tensor is a handle: copies and views (slice, transpose, reshape, expand …) share the numbers. A tensor that needs
// no gradient records nothing, so there is no global gradient mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/dtype.h"
#include "fovea/tensor/shape.h"

namespace fovea {

class Random;
struct GradientSlot;  // gradient.h

class Tensor final {
 public:
  Tensor() = default;               // no tensor at all; `if (bias)` asks
  Tensor(Shape shape, DType type);  // not initialised
  // A tensor over memory that something else keeps, e.g. a mapped file.
  Tensor(Shape shape, DType type, std::shared_ptr<std::byte> memory);

  explicit operator bool() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  int rank() const { return shape_.rank(); }
  int64_t size(int axis) const { return shape_[axis]; }
  int64_t stride(int axis) const { return strides_[axis]; }
  int64_t elements() const { return shape_.elements(); }
  DType dtype() const { return dtype_; }
  bool is_contiguous() const;
  bool shares_storage_with(const Tensor& other) const { return storage_ == other.storage_; }
  bool owns_alone() const { return storage_.use_count() == 1; }  // no other handle sees these numbers

  // The first element; an Error if the type is another one.
  template <class T>
  T* data() {
    check_type(dtype_of<T>);
    return reinterpret_cast<T*>(storage_.get()) + offset_;
  }
  template <class T>
  const T* data() const {
    return const_cast<Tensor*>(this)->data<T>();
  }
  std::byte* bytes() { return storage_.get() + offset_ * static_cast<int64_t>(size_of(dtype_)); }
  const std::byte* bytes() const { return const_cast<Tensor*>(this)->bytes(); }
  template <class T>
  std::vector<T> values() const;  // a copy in row-major order, converted
  double item() const;            // the value of a tensor with one element

  // Views: no number is copied, and gradients flow back through them.
  Tensor reshape(Shape shape) const;  // one size may be −1; copies if the strides do not allow a view
  Tensor permute(std::initializer_list<int> axes) const;
  Tensor transpose(int a, int b) const;
  Tensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const;
  Tensor select(int axis, int64_t index) const;  // drops the axis
  Tensor unsqueeze(int axis) const;              // a new axis of size 1 before `axis` of the result
  Tensor squeeze(int axis) const;
  Tensor expand(Shape shape) const;  // repeats axes of size 1, by stride 0

  Tensor contiguous() const;             // itself, or a copy in row-major order
  Tensor clone() const;                  // always a copy
  Tensor to(DType type) const;           // converted; gradients flow between f32 and f64
  void copy_from(const Tensor& source);  // overwrites the numbers, converting; no gradient
  void fill(double value);

  // Gradients.
  Tensor& require_gradient();  // makes this a leaf that collects one
  bool needs_gradient() const { return slot_ != nullptr; }
  Tensor detach() const;    // the same numbers without the tape
  Tensor gradient() const;  // what backward() has added up in a leaf; no tensor before that
  void clear_gradient();
  void set_gradient(Tensor gradient);
  void backward() const;                    // of a single number; the tape is used up by it
  void backward(const Tensor& seed) const;  // from the gradient of something with respect to this tensor

 private:
  friend class Tape;
  void check_type(DType wanted) const;
  Tensor view(Shape shape, Shape strides, int64_t offset) const;  // without the tape

  Shape shape_, strides_;
  int64_t offset_ = 0;  // in elements
  DType dtype_ = DType::f32;
  std::shared_ptr<std::byte> storage_;
  std::shared_ptr<GradientSlot> slot_;
};

Tensor zeros(Shape shape, DType type = DType::f32);
Tensor ones(Shape shape, DType type = DType::f32);
Tensor full(Shape shape, double value, DType type = DType::f32);
Tensor arange(int64_t count, DType type = DType::i64);
Tensor uniform(Shape shape, const Random& random, double low = 0, double high = 1, DType type = DType::f32);
Tensor normal(Shape shape, const Random& random, double mean = 0, double deviation = 1, DType type = DType::f32);

// From given numbers in row-major order:  tensor({2, 2}, {1, 2, 3, 4})
Tensor tensor(Shape shape, const std::vector<float>& values);
Tensor tensor(Shape shape, const std::vector<double>& values);
Tensor tensor(Shape shape, const std::vector<int64_t>& values);

}  // namespace fovea
