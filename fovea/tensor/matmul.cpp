#include "fovea/tensor/matmul.h"

#include <algorithm>
#include <optional>

#include "fovea/base/scratch.h"
#include "fovea/kernels/packed.h"
#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

using kernels::GemmShape;
using kernels::Matrix;

// A tensor as one matrix: all axes but the last are its rows. Nothing if their strides do not allow that.
std::optional<Matrix> flattened(const Tensor& x) {
  Shape shape, strides;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) {
    shape.push_back(x.size(axis));
    strides.push_back(x.stride(axis));
  }
  const JoinedAxes<1> rows(shape, {strides});
  if (rows.shape.rank() > 1) return std::nullopt;
  return Matrix{x.data<float>(), rows.strides[0][0], x.stride(-1)};
}

Tensor flattenable(const Tensor& x) { return x.dtype() != DType::f32 || flattened(x) ? x : x.contiguous(); }

Matrix transposed(const Matrix& m) { return {m.data, m.column_stride, m.row_stride}; }

// c = a b for every matrix of the batch; both have c's batch axes, by strides of 0 where they repeat.
void multiply(const Tensor& a, const Tensor& b, Tensor& c, float) {
  const GemmShape shape = {.rows = c.size(-2), .columns = c.size(-1), .depth = a.size(-1)};
  Shape batch, a_strides, b_strides, c_strides;
  for (int axis = 0; axis + 2 < c.rank(); ++axis) {
    batch.push_back(c.size(axis));
    a_strides.push_back(a.stride(axis));
    b_strides.push_back(b.stride(axis));
    c_strides.push_back(c.stride(axis));
  }
  const JoinedAxes<3> joined(batch, {a_strides, b_strides, c_strides});
  const int last = joined.shape.rank() - 1;
  const int64_t count = joined.shape[last], groups = batch.elements() / std::max<int64_t>(1, count);
  for (int64_t group = 0; group < groups; ++group) {
    std::array<int64_t, 3> at{};
    int64_t rest = group;
    for (int axis = last - 1; axis >= 0; --axis) {
      for (int o = 0; o < 3; ++o) at[o] += rest % joined.shape[axis] * joined.strides[o][axis];
      rest /= joined.shape[axis];
    }
    kernels::batched_gemm(count, shape, {a.data<float>() + at[0], a.stride(-2), a.stride(-1)},
                          {b.data<float>() + at[1], b.stride(-2), b.stride(-1)},
                          {c.data<float>() + at[2], c.stride(-2)},
                          {.a = joined.strides[0][last], .b = joined.strides[1][last], .c = joined.strides[2][last]});
  }
}

void multiply(const Tensor& a, const Tensor& b, Tensor& c, double) {
  const int64_t rows = c.size(-2), columns = c.size(-1), depth = a.size(-1);
  const Tensor left = a.contiguous(), right = b.contiguous();
  const double *p = left.data<double>(), *q = right.data<double>();
  double* r = c.data<double>();
  const int64_t all = columns == 0 ? 0 : c.elements() / columns;
  parallel_ranges(all, 1 + 16384 / std::max<int64_t>(1, columns * depth), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      double* out = r + row * columns;
      std::fill_n(out, columns, 0.0);
      for (int64_t k = 0; k < depth; ++k) {
        const double factor = p[row * depth + k];
        const double* in = q + (row / rows * depth + k) * columns;
        for (int64_t j = 0; j < columns; ++j) out[j] += factor * in[j];
      }
    }
  });
}

// a [..., rows, depth] · b [..., depth, columns] of equal rank, without a gradient.
Tensor product(const Tensor& a, const Tensor& b) {
  Shape shape, a_shape, b_shape;
  for (int axis = 0; axis + 2 < a.rank(); ++axis) {
    const int64_t size = a.size(axis) == 1 ? b.size(axis) : a.size(axis);
    shape.push_back(size);
  }
  a_shape = b_shape = shape;
  for (int axis : {-2, -1}) a_shape.push_back(a.size(axis)), b_shape.push_back(b.size(axis));
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  Tensor c(shape, a.dtype());
  if (c.elements() == 0) return c;
  if (a.size(-1) == 0) return zeros(shape, a.dtype());
  with_number("matmul", a.dtype(), [&](auto zero) { multiply(a.expand(a_shape), b.expand(b_shape), c, zero); });
  return c;
}

// A matrix product with a batch on one side only is a single one: x [..., depth] · W with W as a strided [depth,
// columns].
Tensor rows_times(const Tensor& x, const Tensor& w, const kernels::Epilogue& epilogue = {},
                  Precision precision = Precision::f32) {
  Shape shape = x.shape();
  shape[-1] = w.size(1);
  Tensor y(shape, x.dtype());
  const GemmShape size = {
      .rows = shape[-1] == 0 ? 0 : y.elements() / shape[-1], .columns = w.size(1), .depth = w.size(0)};
  if (y.elements() == 0) return y;
  if (x.dtype() == DType::f32) {
    const Tensor rows = flattenable(x);
    kernels::gemm(size, *flattened(rows), Matrix{w.data<float>(), w.stride(0), w.stride(1)},
                  {y.data<float>(), size.columns}, epilogue, precision);
    return y;
  }
  return product(x.reshape({size.rows, size.depth}), w).reshape(shape);
}

// xᵀ dy over all rows of both: [depth, columns].
Tensor transposed_times(const Tensor& x, const Tensor& dy, Precision precision = Precision::f32) {
  Tensor w({x.size(-1), dy.size(-1)}, x.dtype());
  if (x.elements() == 0 || dy.elements() == 0) return zeros(w.shape(), w.dtype());
  const int64_t rows = x.elements() / x.size(-1);
  if (x.dtype() == DType::f32) {
    const Tensor left = flattenable(x), right = flattenable(dy);
    kernels::gemm({.rows = w.size(0), .columns = w.size(1), .depth = rows}, transposed(*flattened(left)),
                  *flattened(right), {w.data<float>(), w.size(1)}, {}, precision);
    return w;
  }
  return product(x.reshape({rows, x.size(-1)}).transpose(0, 1), dy.reshape({rows, dy.size(-1)}));
}

// [..., rows, depth] · [depth, columns].
Tensor matmul_flat(const Tensor& a, const Tensor& b) {
  Tensor y = rows_times(a.detach(), b.detach());
  if (!needs_gradient(a, b)) return y;
  return with_gradient(
      "matmul", y, {a, b},
      [a = a.detach(), b = b.detach(), first = a.needs_gradient(), second = b.needs_gradient()](const Tensor& dy) {
        return Gradients{first ? rows_times(dy, b.transpose(0, 1)) : Tensor(),
                         second ? transposed_times(a, dy) : Tensor()};
      });
}

Tensor matmul_batched(const Tensor& a, const Tensor& b) {
  Tensor y = product(a.detach(), b.detach());
  if (!needs_gradient(a, b)) return y;
  return with_gradient(
      "matmul", y, {a, b},
      [a = a.detach(), b = b.detach(), first = a.needs_gradient(), second = b.needs_gradient()](const Tensor& dy) {
        return Gradients{first ? sum_to(product(dy, b.transpose(-1, -2)), a.shape()) : Tensor(),
                         second ? sum_to(product(a.transpose(-1, -2), dy), b.shape()) : Tensor()};
      });
}

void check_shapes(const Tensor& a, const Tensor& b) {
  require_same_type("matmul", a, b);
  bool fits = a.rank() > 0 && b.rank() > 0 && a.size(-1) == b.size(b.rank() > 1 ? -2 : -1);
  for (int axis = 3; fits && axis <= std::min(a.rank(), b.rank()); ++axis) {
    fits = a.size(-axis) == b.size(-axis) || a.size(-axis) == 1 || b.size(-axis) == 1;
  }
  require(fits, "matmul: found {} and {}, expected [..., rows, depth] and [..., depth, columns]", a.shape(), b.shape());
}

Tensor with_rank(Tensor x, int rank) {
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.insert(0, 1);
  return shape == x.shape() ? x : x.reshape(shape);
}

void check_shapes(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require_same_type("linear", x, weight);
  require(x.rank() > 0 && weight.rank() == 2 && x.size(-1) == weight.size(1),
          "linear: found x {} and weight {}, expected [..., inputs] and [outputs, inputs]", x.shape(), weight.shape());
  if (!bias) return;
  require_same_type("linear", x, bias);
  require(bias.shape() == Shape{weight.size(0)}, "linear: found bias {}, expected [{}]", bias.shape(), weight.size(0));
}

// What linears() keeps for its gradient.
struct Projections {
  Tensor x;
  std::vector<Tensor> weights;
  bool for_x;
  std::vector<bool> for_weight, for_bias;
  Precision precision;
};

// All products of x, which is rounded once.
std::vector<Tensor> projected(const Projections& p, const std::vector<Projection>& projections) {
  Scratch scratch;
  std::vector<Tensor> results, biases;
  std::vector<kernels::Product> products;
  const int64_t inputs = p.x.size(-1), rows = p.x.elements() / inputs;
  for (const auto& [weight, bias] : projections) {
    const int64_t outputs = weight.size(0);
    Shape shape = p.x.shape();
    shape[-1] = outputs;
    results.emplace_back(shape, DType::f32);
    biases.push_back(bias ? bias.detach().contiguous() : Tensor());
    std::byte* packed = scratch.take<std::byte>(kernels::packed_bytes(p.precision, inputs, outputs));
    kernels::pack(p.precision, {weight.data<float>(), weight.stride(1), weight.stride(0)}, inputs, outputs, packed);
    products.push_back({{p.precision, inputs, outputs, packed},
                        {results.back().data<float>(), outputs},
                        {.bias = bias ? biases.back().data<float>() : nullptr}});
  }
  const Tensor x = flattenable(p.x);
  kernels::multiply(rows, *flattened(x), products);
  return results;
}

// dx = Σ dyᵢ Wᵢ, each product going on where the one before stopped.
Tensor projected_back(const Projections& p, std::span<const Tensor> dy) {
  Tensor dx;
  for (size_t i = 0; i < dy.size(); ++i) {
    if (!dy[i]) continue;
    const bool first = !dx;
    if (first) dx = Tensor(p.x.shape(), DType::f32);
    const Tensor rows = flattenable(dy[i]), &w = p.weights[i];
    kernels::gemm({.rows = dx.elements() / w.size(1), .columns = w.size(1), .depth = w.size(0)}, *flattened(rows),
                  Matrix{w.data<float>(), w.stride(0), w.stride(1)}, {dx.data<float>(), w.size(1)}, {.add = !first},
                  p.precision);
  }
  return dx;
}

// dWᵢ = dyᵢᵀ x with x packed once, and dbᵢ: the gradients of x, W₁, b₁, W₂ …
Gradients gradients_of(const Projections& p, std::span<const Tensor> dy) {
  Gradients result = {p.for_x ? projected_back(p, dy) : Tensor()};
  const Tensor x = flattenable(p.x);
  const int64_t inputs = x.size(-1), rows = x.elements() / inputs;
  Scratch scratch;
  std::byte* packed = scratch.take<std::byte>(kernels::packed_bytes(p.precision, rows, inputs));
  kernels::pack(p.precision, *flattened(x), rows, inputs, packed);
  for (size_t i = 0; i < p.weights.size(); ++i) {
    Tensor dw, db;
    if (dy[i] && p.for_weight[i]) {
      dw = Tensor(p.weights[i].shape(), DType::f32);
      const Tensor g = flattenable(dy[i]);
      kernels::multiply(dw.size(0), transposed(*flattened(g)), {p.precision, rows, inputs, packed},
                        {dw.data<float>(), inputs});
    }
    if (dy[i] && p.for_bias[i]) db = sum_to(dy[i], {dy[i].size(-1)});
    result.push_back(dw), result.push_back(db);
  }
  return result;
}

}  // namespace

std::vector<Tensor> linears(const Tensor& x, const std::vector<Projection>& projections, Precision precision) {
  std::vector<Tensor> results, inputs = {x};
  const bool fused = x.dtype() == DType::f32 && x.elements() > 0;
  Projections p = {x.detach(), {}, x.needs_gradient(), {}, {}, precision};
  for (const auto& [weight, bias] : projections) {
    check_shapes(x, weight, bias);
    if (!fused) results.push_back(linear(x, weight, bias));
    inputs.push_back(weight), inputs.push_back(bias);
    p.weights.push_back(weight.detach());
    p.for_weight.push_back(weight.needs_gradient()), p.for_bias.push_back(bias.needs_gradient());
  }
  if (!fused) return results;
  results = projected(p, projections);
  return with_gradient("linears", results, inputs, [p](std::span<const Tensor> dy) { return gradients_of(p, dy); });
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  check_shapes(a, b);
  if (a.rank() == 1) return matmul(a.unsqueeze(0), b).squeeze(b.rank() > 1 ? -2 : 0);
  if (b.rank() == 1) return matmul(a, b.unsqueeze(1)).squeeze(-1);
  if (b.rank() == 2) return matmul_flat(a, b);
  const int rank = std::max(a.rank(), b.rank());
  return matmul_batched(with_rank(a, rank), with_rank(b, rank));
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation, Precision precision) {
  check_shapes(x, weight, bias);
  const bool taped = needs_gradient(x, weight, bias);
  Shape shape = x.shape();
  shape[-1] = weight.size(0);
  Tensor y, before;
  if (x.dtype() == DType::f32) {
    const Tensor added = bias ? bias.detach().contiguous() : Tensor();
    kernels::Epilogue epilogue = {.bias = added ? added.data<float>() : nullptr, .activation = activation};
    if (taped && activation != Activation::none && activation != Activation::relu) {
      before = Tensor(shape, x.dtype());
      epilogue.before = {before.data<float>(), shape[-1]};
    }
    y = rows_times(x.detach(), weight.detach().transpose(0, 1), epilogue, precision);
    if (activation == Activation::relu) before = y;  // positive where its argument is
  } else {
    before = rows_times(x.detach(), weight.detach().transpose(0, 1));
    if (bias) before = before + bias.detach();
    y = activate(activation, before);
  }
  if (!taped) return y;
  std::vector<Tensor> inputs = {x, weight};
  if (bias) inputs.push_back(bias);
  return with_gradient("linear", y, std::move(inputs),
                       [x = x.detach(), weight = weight.detach(), before, activation, precision,
                        biased = static_cast<bool>(bias), for_x = x.needs_gradient(),
                        for_weight = weight.needs_gradient(), for_bias = bias.needs_gradient()](const Tensor& dy) {
                         Tensor g = activation == Activation::none ? dy : activate_gradient(activation, before, dy);
                         Gradients result = {for_x ? rows_times(g, weight, {}, precision) : Tensor(),
                                             for_weight ? transposed_times(g, x, precision) : Tensor()};
                         if (biased) result.push_back(for_bias ? sum_to(g, {g.size(-1)}) : Tensor());
                         return result;
                       });
}

}  // namespace fovea
