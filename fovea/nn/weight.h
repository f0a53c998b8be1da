// What a module learns, in one of three states: only its shape; numbers that learn; or packed, as the products read it.
//
//   Weight w({512, 64}, Weight::Use::product);         // a shape, which takes no memory
//   w.numbers() = normal({512, 64}, Random(1));        // learns: linear(x, w) has a gradient
//   w.bind(stored, Precision::int8);                   // packed once, shared by copies, never changed: linear(x, w) is fast
//   w.bind(gguf.blocks("token_embd.weight"));          // the same of a GGUF file's blocks, in as many bits as they have there
#pragma once

#include <memory>
#include <vector>

#include "fovea/base/activation.h"
#include "fovea/base/block_type.h"
#include "fovea/base/precision.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

namespace kernels {
struct PackedMatrix;  // kernels/packed.h
}
struct BlockMatrix;  // formats/block_matrix.h
struct Adapter;      // nn/adapter.h

class Weight final {
 public:
  enum class Use {
    numbers,  // read element by element: biases, norms, tables of scores; always f32
    product,  // [outputs, inputs], read by linear() and rows() alone, so that it may be packed
    table,    // read by rows() alone: stays in its file, as it is stored there, until a row is asked for
  };

  Weight() = default;  // none; `if (bias)` asks
  explicit Weight(const Shape& shape, Use use = Use::numbers) : exists_(true), use_(use), shape_(shape) {}
  // For products, in parts of so many rows each, which are packed as matrices of their own.
  Weight(const Shape& shape, std::vector<int64_t> parts)
      : exists_(true), use_(Use::product), shape_(shape), parts_(std::move(parts)) {}
  Weight(const Tensor& numbers) : exists_(static_cast<bool>(numbers)), shape_(numbers.shape()), numbers_(numbers) {}

  // The same weight, which files hold as [inputs, outputs], as GPT-2's do.
  Weight stored_transposed() && { return transposed_ = true, std::move(*this); }

  // The same weight [outputs, kernel · inputs], which files hold as a convolution's [outputs, inputs, kernel].
  Weight stored_as_convolution(int64_t kernel) && { return kernel_ = kernel, std::move(*this); }

  explicit operator bool() const { return exists_; }
  const Shape& shape() const { return shape_; }
  bool transposed() const { return transposed_; }
  Shape stored_shape() const {  // in files
    if (kernel_ > 0) return {shape_[0], shape_[1] / kernel_, kernel_};
    return transposed_ ? Shape{shape_[1], shape_[0]} : shape_;
  }
  int rank() const { return shape_.rank(); }
  int64_t size(int axis) const { return shape_[axis]; }
  int64_t elements() const { return shape_.elements(); }
  Use use() const { return use_; }
  DType dtype() const { return numbers_ ? numbers_.dtype() : DType::f32; }

  // The numbers, zeros where there was only the shape. An Error if they are packed.
  Tensor& numbers();
  // The same of a weight that has them; no tensor for none. An Error if there is only the shape, or if they are packed.
  const Tensor& operator*() const;
  const Tensor* operator->() const { return &**this; }
  operator const Tensor&() const { return **this; }

  // In what linear() multiplies numbers that learn, there and back (tensor/matmul.h); they and their gradients stay f32.
  void multiply_in(Precision precision) { precision_ = precision; }
  Precision multiplies_in() const { return precision_; }

  void learn(const Tensor& stored);            // numbers that go on learning from those of a file
  Tensor as_used(const Tensor& stored) const;  // a file's numbers as the weight has them; an Error if the shapes differ
  Tensor stored() const;                       // the other way, from whatever state it is in

  // The numbers of a file: packed if they are for products, else a copy in f32. An Error if the shapes differ.
  void bind(const Tensor& stored, Precision);
  void bind(const BlockMatrix& stored);  // the same of blocks; f32 if it is not for products
  // The same of numbers that packed_numbers() wrote: read where they lie, without work. An Error if they are no such numbers.
  void bind_packed(const Tensor& stored, Precision);
  bool packs() const;                                          // whether bind() packs it
  const kernels::PackedMatrix* packed(size_t part = 0) const;  // null if it is not, or has no such part

  // A low-rank addition that learns while the numbers stay: linear() has both. Copies of the weight share it; nullptr: none.
  void adapt(std::shared_ptr<Adapter> adapter);
  Adapter* adapter() const;

  // In f32 again, from whatever state it is in; what int8 or blocks lost stays lost.
  Tensor unpacked() const;
  Tensor packed_numbers() const;      // bytes, as I8; of a weight that is packed in a Precision
  int64_t bytes_in(Precision) const;  // that it takes in memory once it is bound
  int64_t bytes_in(BlockType) const;

 private:
  struct Beyond;
  std::vector<int64_t> parts() const;

  bool exists_ = false, transposed_ = false;
  Use use_ = Use::numbers;
  Precision precision_ = Precision::f32;
  Shape shape_;
  std::vector<int64_t> parts_;  // none: one
  int64_t kernel_ = 0;          // of a convolution
  Tensor numbers_;
  std::shared_ptr<const Beyond> beyond_;  // what it has beyond numbers: it packed, or an addition beside them
};

// What products with it run in: its own if it is packed in one, else f32.
Precision precision_of(const Weight&);
// What the attention of a model that writes runs in beside such a weight: beside blocks, of which memory is what they save, keys and values
// are halves.
Precision attention_precision(const Weight&);

// activation(x Wᵀ + b), as tensor/matmul.h has it for tensors. Packed weights have no gradient, but x has one through them.
Tensor linear(const Tensor& x, const Weight& weight, const Weight& bias = {}, Activation activation = Activation::none);

// residual + x Wᵀ + b; in the same pass where the weight is packed and nothing needs a gradient.
Tensor linear_onto(const Tensor& residual, const Tensor& x, const Weight& weight, const Weight& bias = {});

// Several of one x; packed ones run as one product.
struct WeightAndBias {
  const Weight& weight;
  const Weight& bias;
};
std::vector<Tensor> linears(const Tensor& x, const std::vector<WeightAndBias>&);

// Rows of the weight, ids' shape + [inputs]: embeddings. The id `still` adds nothing to the gradient; −1: there is none.
Tensor rows(const Weight& table, const Tensor& ids, int64_t still = -1);

}  // namespace fovea
