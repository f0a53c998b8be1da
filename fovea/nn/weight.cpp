#include "fovea/nn/weight.h"

#include <algorithm>

#include "fovea/base/threads.h"
#include "fovea/formats/block_matrix.h"
#include "fovea/kernels/convert.h"
#include "fovea/kernels/packed.h"
#include "fovea/nn/adapter.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/lasting_storage.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

using kernels::PackedMatrix;

// The product reads contiguous rows.
Tensor rows_of(const Tensor& x, const PackedMatrix& w) {
  require(x.dtype() == DType::f32 && x.rank() > 0 && x.size(-1) == w.depth,
          "linear: found x {} {} and a packed weight [{}, {}], expected F32 [..., inputs] and [outputs, inputs]",
          name(x.dtype()), x.shape(), w.columns, w.depth);
  return x.detach().contiguous();
}

// Packed numbers learn nothing, but lead back to x: dx = dy W, with W as it is packed.
Tensor leading_back(const Tensor& y, const Tensor& x, const Weight& weight) {
  if (!x.needs_gradient()) return y;
  return with_gradient("linear", y, {x}, [weight](const Tensor& dy) {
    const Tensor w = weight.unpacked();
    return Gradients{matmul(dy, w.reshape({-1, w.size(-1)}))};
  });
}

// One product's place in the results; `bias` keeps its numbers alive.
kernels::Product product_of(const PackedMatrix& w, const Tensor& bias, Activation activation, const Tensor& y) {
  require(!bias || (bias.shape() == Shape{w.columns} && bias.dtype() == DType::f32 && bias.is_contiguous()),
          "linear: found bias {}, expected F32 [{}]", bias.shape(), w.columns);
  return {w,
          {const_cast<float*>(y.data<float>()), w.columns},
          {.bias = bias ? bias.data<float>() : nullptr, .activation = activation}};
}

Tensor result_for(const Tensor& x, const PackedMatrix& w) {
  Shape shape = x.shape();
  shape[-1] = w.columns;
  return Tensor(shape, DType::f32);
}

void multiply(const Tensor& x, std::span<const kernels::Product> products) {
  const int64_t depth = x.size(-1), rows = depth == 0 ? 0 : x.elements() / depth;
  if (rows > 0) kernels::multiply(rows, {x.data<float>(), depth, 1}, products);
}

// Matrices of so many columns each, one behind the other.
std::vector<PackedMatrix> matrices_in(const std::byte* memory, Precision precision, int64_t depth,
                                      const std::vector<int64_t>& columns) {
  std::vector<PackedMatrix> matrices;
  for (int64_t count : columns) {
    matrices.push_back({precision, depth, count, memory});
    memory += kernels::packed_bytes(precision, depth, count);
  }
  return matrices;
}

// What a product with these weights is, for whoever watches.
Work product_work(const Tensor& x, std::span<const Weight* const> weights, std::span<const Tensor> results) {
  Work work = {.bytes = bytes_of(x), .input = &x, .output = results.data()};
  const double rows = x.size(-1) > 0 ? static_cast<double>(x.elements() / x.size(-1)) : 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Weight& w = *weights[i];
    const PackedMatrix* packed = w.packed();
    work.flops += 2 * rows * static_cast<double>(w.elements());
    work.bytes += bytes_of(results[i]) + static_cast<double>(!packed          ? 4 * w.elements()
                                                             : packed->blocks ? w.bytes_in(*packed->blocks)
                                                                              : w.bytes_in(packed->precision));
    if (i > 0) continue;
    work.weight = packed ? static_cast<const void*>(packed->data) : static_cast<const void*>(w->bytes());
    if (packed && packed->blocks)
      work.blocks = packed->blocks;
    else if (packed)
      work.precision = packed->precision;
    else
      work.how = "numbers that learn, packed for each product";
  }
  return work;
}

Tensor lasting(int64_t bytes) { return {{bytes}, DType::i8, allocate_lasting(static_cast<size_t>(bytes))}; }

Tensor finite(const Tensor& stored) {
  const Tensor numbers = stored.to(DType::f32).contiguous();
  if (!kernels::all_finite(numbers.elements(), numbers.data<float>()))
    throw Error(Error::corrupt, "found a NaN or an infinity, expected finite numbers");
  return numbers;
}

}  // namespace

struct Weight::Beyond {
  Tensor memory = {};  // bytes
  std::vector<PackedMatrix> parts = {};
  std::shared_ptr<Adapter> adapter = nullptr;
};

const PackedMatrix* Weight::packed(size_t part) const {
  return beyond_ && part < beyond_->parts.size() ? &beyond_->parts[part] : nullptr;
}

Precision precision_of(const Weight& weight) {
  const PackedMatrix* packed = weight.packed();
  return packed && !packed->blocks ? packed->precision : Precision::f32;
}

Precision attention_precision(const Weight& weight) {
  const PackedMatrix* packed = weight.packed();
  return packed && packed->blocks ? Precision::f16 : precision_of(weight);
}

bool Weight::packs() const {
  return use_ == Use::product && rank() >= 2 && elements() > 0 && elements() == size(-2) * size(-1);
}

std::vector<int64_t> Weight::parts() const { return parts_.empty() ? std::vector<int64_t>{size(-2)} : parts_; }

Tensor& Weight::numbers() {
  require(exists_ && !packed(), "weight {}: found {}, expected numbers that learn", shape_,
          packed() ? "it packed" : "none");
  if (!numbers_) numbers_ = zeros(shape_);
  return numbers_;
}

const Tensor& Weight::operator*() const {
  require(!exists_ || numbers_, "weight {}: found {}, expected numbers; {}", shape_,
          packed() ? "it packed" : "its shape alone",
          packed() ? "packed models do not learn" : "initialise or load the model first");
  return numbers_;
}

void Weight::learn(const Tensor& stored) { numbers().copy_from(finite(as_used(stored))); }

Tensor Weight::as_used(const Tensor& stored) const {
  if (stored.shape() != stored_shape())
    throw Error(Error::corrupt, "found {}, expected {}", stored.shape(), stored_shape());
  if (kernel_ > 0) return stored.permute({0, 2, 1}).contiguous().reshape(shape_);
  return transposed_ ? stored.transpose(0, 1) : stored;
}

Tensor Weight::stored() const {
  if (kernel_ > 0) return unpacked().reshape({shape_[0], kernel_, shape_[1] / kernel_}).permute({0, 2, 1}).contiguous();
  return transposed_ ? unpacked().transpose(0, 1).contiguous() : unpacked();
}

void Weight::bind(const Tensor& file, Precision precision) {
  const Tensor stored = as_used(file);
  if (use_ == Use::table) {
    beyond_ = nullptr, numbers_ = stored;
    return;
  }
  if (!packs()) {
    beyond_ = nullptr;
    numbers_ = finite(stored);
    if (numbers_.shares_storage_with(stored)) numbers_ = numbers_.clone();
    return;
  }
  const Tensor memory = lasting(bytes_in(precision));
  const auto matrices = matrices_in(memory.bytes(), precision, size(-1), parts());
  const Tensor rows = stored.reshape({size(-2), size(-1)});
  const int64_t piece = std::max<int64_t>(1, (1 << 16) / size(-1) / 16) * 16;
  int64_t row = 0;
  for (const PackedMatrix& m : matrices) {
    for (int64_t column = 0; column < m.columns; column += piece) {
      const int64_t count = std::min(piece, m.columns - column);
      const Tensor some = finite(rows.slice(0, row, row + count));
      kernels::pack_columns(m, column, {some.data<float>(), 1, m.depth}, count);
      row += count;
    }
  }
  beyond_ = std::make_shared<const Beyond>(Beyond{memory, matrices});
  numbers_ = {};
}

// A matrix of several axes in front, such as [outputs, 1, inputs], has the same rows.
void Weight::bind(const BlockMatrix& stored) {
  if (stored.shape != shape_) throw Error(Error::corrupt, "found {}, expected {}", stored.shape, shape_);
  if (!packs()) {
    beyond_ = nullptr;
    numbers_ = finite(stored.numbers());
    return;
  }
  const Tensor memory = lasting(bytes_in(stored.type));
  const auto [numbers, bytes] = block_of(stored.type);
  std::vector<PackedMatrix> matrices;
  const std::byte *to = memory.bytes(), *from = stored.memory.get();
  for (int64_t rows : parts()) {
    matrices.push_back({Precision::f32, size(-1), rows, to, stored.type});
    kernels::pack_blocks(matrices.back(), from);
    if (!kernels::is_finite(matrices.back()))
      throw Error(Error::corrupt, "found a NaN or an infinity, expected finite numbers");
    to += kernels::packed_bytes(stored.type, size(-1), rows), from += rows * size(-1) / numbers * bytes;
  }
  beyond_ = std::make_shared<const Beyond>(Beyond{memory, std::move(matrices)});
  numbers_ = {};
}

Tensor Weight::unpacked() const {
  if (!packed()) return (adapter() ? merged(**this, *adapter()) : **this).detach();
  Tensor numbers(shape_, DType::f32);
  float* to = numbers.data<float>();
  for (const PackedMatrix& m : beyond_->parts) {
    parallel_for(m.columns, [&](int64_t row) { kernels::unpack_column(m, row, to + row * m.depth); });
    to += m.columns * m.depth;
  }
  return numbers;
}

void Weight::bind_packed(const Tensor& stored, Precision precision) {
  const int64_t bytes = bytes_in(precision);
  if (!packs() || stored.dtype() != DType::i8 || stored.shape() != Shape{bytes})
    throw Error(Error::corrupt, "found {} {}, expected I8 [{}] as {} packs {}", name(stored.dtype()), stored.shape(),
                bytes, name(precision), shape_);
  // A file of someone else may hold them where no vector is read at speed.
  Tensor kept = stored.contiguous();
  if (reinterpret_cast<uintptr_t>(kept.bytes()) % 64 != 0) kept = kept.clone();
  const auto matrices = matrices_in(kept.bytes(), precision, size(-1), parts());
  if (!std::all_of(matrices.begin(), matrices.end(), kernels::is_finite))
    throw Error(Error::corrupt, "found a NaN or an infinity, expected finite numbers");
  beyond_ = std::make_shared<const Beyond>(Beyond{kept, matrices});
  numbers_ = {};
}

Tensor Weight::packed_numbers() const {
  require(packed() && !packed()->blocks, "weight {}: found {}, expected it packed in a precision", shape_,
          packed() ? "blocks" : "it not packed");
  return beyond_->memory;
}

int64_t Weight::bytes_in(Precision precision) const {
  if (!packs()) return 4 * elements();
  int64_t bytes = 0;
  for (int64_t rows : parts()) bytes += kernels::packed_bytes(precision, size(-1), rows);
  return bytes;
}

int64_t Weight::bytes_in(BlockType type) const {
  if (!packs()) return 4 * elements();
  int64_t bytes = 0;
  for (int64_t rows : parts()) bytes += kernels::packed_bytes(type, size(-1), rows);
  return bytes;
}

void Weight::adapt(std::shared_ptr<Adapter> adapter) {
  require(!adapter || (use_ == Use::product && rank() == 2 && !packed()),
          "weight {}: found {}, expected a matrix for products with numbers", shape_,
          packed() ? "it packed" : "a table");
  beyond_ = adapter ? std::make_shared<const Beyond>(Beyond{.adapter = std::move(adapter)}) : nullptr;
}

Adapter* Weight::adapter() const { return beyond_ ? beyond_->adapter.get() : nullptr; }

namespace {

Tensor run_linear(const Tensor& x, const Weight& weight, const Weight& bias, Activation activation) {
  const PackedMatrix* packed = weight.packed();
  if (weight.adapter())
    return activate(activation, linear(x, *weight, *bias, Activation::none, weight.multiplies_in()) +
                                    added_by(*weight.adapter(), x));
  if (!packed) return linear(x, *weight, *bias, activation, weight.multiplies_in());
  const Tensor rows = rows_of(x, *packed), y = result_for(x, *packed);
  const bool back = x.needs_gradient();  // for which the activation is a step of its own
  const kernels::Product product = product_of(*packed, *bias, back ? Activation::none : activation, y);
  multiply(rows, {&product, 1});
  return back ? activate(activation, leading_back(y, x, weight)) : y;
}

std::vector<Tensor> run_linears(const Tensor& x, const std::vector<WeightAndBias>& weights) {
  const bool packed =
      std::all_of(weights.begin(), weights.end(), [](const WeightAndBias& w) { return w.weight.packed() != nullptr; });
  if (!packed) {
    std::vector<Projection> projections;
    for (const WeightAndBias& w : weights) projections.push_back({*w.weight, *w.bias});
    std::vector<Tensor> results =
        linears(x, projections, weights.empty() ? Precision::f32 : weights[0].weight.multiplies_in());
    for (size_t i = 0; i < weights.size(); ++i)
      if (const Adapter* adapter = weights[i].weight.adapter()) results[i] = results[i] + added_by(*adapter, x);
    return results;
  }
  std::vector<Tensor> results;
  std::vector<kernels::Product> products;
  for (const auto& [weight, bias] : weights) {
    results.push_back(result_for(x, *weight.packed()));
    products.push_back(product_of(*weight.packed(), *bias, Activation::none, results.back()));
  }
  if (!weights.empty()) multiply(rows_of(x, *weights[0].weight.packed()), products);
  for (size_t i = 0; i < results.size(); ++i) results[i] = leading_back(results[i], x, weights[i].weight);
  return results;
}

Tensor run_rows(const Weight& table, const Tensor& ids, int64_t still) {
  const PackedMatrix* packed = table.packed();
  require(!table.adapter(), "adapter: found one of an embedding {}, expected those of products alone", table.shape());
  if (!packed && table.use() != Weight::Use::table) return rows(*table, ids, still);
  if (!packed) {
    const Tensor y = rows(*table, ids, still);
    return y.dtype() == DType::f32 || y.dtype() == DType::f64 ? y : finite(y);
  }
  require(ids.dtype() == DType::i64, "rows: found indices of type {}, expected I64", name(ids.dtype()));
  const Tensor index = ids.contiguous();
  const int64_t* id = index.data<int64_t>();
  for (int64_t i = 0; i < index.elements(); ++i)
    if (id[i] < 0 || id[i] >= packed->columns)
      throw Error(Error::invalid, "rows: found index {} at place {}, expected 0 to {}", id[i], i, packed->columns - 1);
  Shape shape = ids.shape();
  shape.push_back(packed->depth);
  Tensor y(shape, DType::f32);
  parallel_ranges(index.elements(), 1 + 16384 / (packed->depth + 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) kernels::unpack_column(*packed, id[i], y.data<float>() + i * packed->depth);
  });
  return y;
}

}  // namespace

Tensor linear(const Tensor& x, const Weight& weight, const Weight& bias, Activation activation) {
  TimedWork timed(Work::Kind::linear);
  const Tensor y = run_linear(x, weight, bias, activation);
  const Weight* const one = &weight;
  if (timed) timed.done(product_work(x, {&one, 1}, {&y, 1}));
  return y;
}

Tensor linear_onto(const Tensor& residual, const Tensor& x, const Weight& weight, const Weight& bias) {
  const PackedMatrix* packed = weight.packed();
  if (!packed || x.needs_gradient() || residual.needs_gradient()) return residual + linear(x, weight, bias);
  TimedWork timed(Work::Kind::linear);
  const Tensor rows = rows_of(x, *packed), y = result_for(x, *packed), summand = residual.contiguous();
  require(summand.shape() == y.shape() && summand.dtype() == DType::f32,
          "linear: found a residual {} {}, expected F32 {}", name(summand.dtype()), summand.shape(), y.shape());
  kernels::Product product = product_of(*packed, *bias, Activation::none, y);
  product.epilogue.residual = {summand.data<float>(), y.size(-1), 1};
  multiply(rows, {&product, 1});
  const Weight* const one = &weight;
  if (timed) timed.done(product_work(x, {&one, 1}, {&y, 1}));
  return y;
}

std::vector<Tensor> linears(const Tensor& x, const std::vector<WeightAndBias>& weights) {
  TimedWork timed(Work::Kind::linear);
  const std::vector<Tensor> results = run_linears(x, weights);
  if (!timed || weights.empty()) return results;
  std::vector<const Weight*> all;
  for (const WeightAndBias& w : weights) all.push_back(&w.weight);
  timed.done(product_work(x, all, results));
  return results;
}

Tensor rows(const Weight& table, const Tensor& ids, int64_t still) {
  TimedWork timed(Work::Kind::embedding);
  const Tensor y = run_rows(table, ids, still);
  if (!timed) return y;
  const PackedMatrix* packed = table.packed();
  timed.done({.weight = packed ? static_cast<const void*>(packed->data) : static_cast<const void*>(table->bytes()),
              .bytes = 2 * bytes_of(y) + bytes_of(ids),
              .output = &y});
  return y;
}

}  // namespace fovea
