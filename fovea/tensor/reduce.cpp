#include "fovea/tensor/reduce.h"

#include <algorithm>
#include <cmath>

#include "fovea/kernels/sum.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

// A contiguous tensor around the axes begin … end − 1 that are reduced together: [outer, count, inner].
struct Block {
  int64_t outer = 1, count = 1, inner = 1;

  Block(const Shape& shape, int begin, int end) {
    for (int axis = 0; axis < shape.rank(); ++axis) (axis < begin ? outer : axis < end ? count : inner) *= shape[axis];
  }
  int64_t work() const { return std::max<int64_t>(1, count * inner); }
};

constexpr int64_t grain = 16384;  // elements that are worth another thread

void sum_block(const Block& b, const float* x, float* y) {
  if (b.inner == 1) return kernels::row_sums({.rows = b.outer, .columns = b.count, .stride = b.count}, x, y);
  if (b.outer == 1) return kernels::column_sums({.rows = b.count, .columns = b.inner, .stride = b.inner}, x, y);
  parallel_ranges(b.outer, 1 + grain / b.work(), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      kernels::column_sums({.rows = b.count, .columns = b.inner, .stride = b.inner}, x + o * b.count * b.inner,
                           y + o * b.inner);
    }
  });
}

void sum_block(const Block& b, const double* x, double* y) {
  parallel_ranges(b.outer, 1 + grain / b.work(), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      double* sums = y + o * b.inner;
      std::fill_n(sums, b.inner, 0.0);
      for (int64_t n = 0; n < b.count; ++n) {
        const double* row = x + (o * b.count + n) * b.inner;
        for (int64_t i = 0; i < b.inner; ++i) sums[i] += row[i];
      }
    }
  });
}

using Reduced = std::array<bool, Shape::most>;  // which axes are summed up

Reduced marked(const char* operation, const Shape& shape, const std::vector<int>& axes) {
  Reduced reduced{};
  for (int axis : axes) {
    const int index = shape.axis_index(axis);
    require(!reduced[index], "{}: axis {} of {} is named twice", operation, axis, shape);
    reduced[index] = true;
  }
  return reduced;
}

// Neighbouring axes are summed together, the last ones first; the axes stay with size 1.
Tensor sum_marked(const Tensor& x, const Reduced& reduced) {
  Tensor y = x.detach();
  for (int end = x.rank(); end > 0; --end) {
    if (!reduced[end - 1]) continue;
    int begin = end - 1;
    while (begin > 0 && reduced[begin - 1]) --begin;
    Shape shape = y.shape();
    for (int axis = begin; axis < end; ++axis) shape[axis] = 1;
    if (shape != y.shape()) {
      const Tensor from = y.contiguous();
      const Block block(from.shape(), begin, end);
      y = Tensor(shape, x.dtype());
      with_number("sum", x.dtype(), [&](auto zero) {
        using T = decltype(zero);
        sum_block(block, from.data<T>(), y.data<T>());
      });
    }
    end = begin + 1;
  }
  return y;
}

Shape without(const Shape& shape, const Reduced& reduced) {
  Shape result;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!reduced[axis]) result.push_back(shape[axis]);
  }
  return result;
}

std::vector<int> all_axes(const Tensor& x) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

int64_t count_of(const Shape& shape, const Reduced& reduced) {
  int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) count *= reduced[axis] ? shape[axis] : 1;
  return count;
}

// The place of the first of the best of `count` numbers, `step` apart; a NaN is better than everything. Sixteen running
// candidates, since one alone would wait for each comparison.
template <class T, class Better>
int64_t best_place(const T* v, int64_t count, int64_t step, Better better) {
  constexpr int64_t lanes = 16;
  T most[lanes];
  std::fill_n(most, lanes, v[0]);
  bool nan = false;
  int64_t i = 0;
  if (step == 1) {
    for (; i + lanes <= count; i += lanes) {
      int odd = 0;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const T x = v[i + lane];
        most[lane] = better(x, most[lane]) ? x : most[lane];
        odd |= x != x;
      }
      nan |= odd != 0;
    }
  }
  for (; i < count; ++i) {
    const T x = v[i * step];
    most[0] = better(x, most[0]) ? x : most[0];
    nan |= x != x;
  }
  for (T candidate : most) most[0] = better(candidate, most[0]) ? candidate : most[0];
  for (i = 0; i < count; ++i) {
    const T x = v[i * step];
    if (nan ? x != x : x == most[0]) break;
  }
  return i;
}

// Where the best elements along the axis are. Keeps the axis.
template <class Better>
Tensor best(const char* operation, const Tensor& x, int axis, Better better) {
  require(x.size(axis) > 0, "{}: found {}, expected at least one element along axis {}", operation, x.shape(), axis);
  const Tensor from = x.detach().contiguous();
  const Block b(x.shape(), axis, axis + 1);
  Shape shape = x.shape();
  shape[axis] = 1;
  Tensor index(shape, DType::i64);
  with_number(operation, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* values = from.data<T>();
    int64_t* found = index.data<int64_t>();
    parallel_ranges(b.outer * b.inner, 1 + grain / b.count, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const T* v = values + line / b.inner * b.count * b.inner + line % b.inner;
        found[line] = best_place(v, b.count, b.inner, better);
      }
    });
  });
  return index;
}

// x at the index, or the other way round: zeros of x's shape with the gradient put there.
Tensor pick(const Tensor& x, int axis, const Tensor& index) {
  const Block b(x.shape(), axis, axis + 1);
  const Tensor from = x.detach().contiguous();
  Tensor y(index.shape(), x.dtype());
  with_number("max", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* values = from.data<T>();
    const int64_t* at = index.data<int64_t>();
    T* to = y.data<T>();
    for (int64_t i = 0; i < b.outer * b.inner; ++i)
      to[i] = values[(i / b.inner * b.count + at[i]) * b.inner + i % b.inner];
  });
  return y;
}

Tensor put(const Tensor& gradient, const Shape& shape, int axis, const Tensor& index) {
  const Block b(shape, axis, axis + 1);
  const Tensor from = gradient.contiguous();
  Tensor dx = zeros(shape, gradient.dtype());
  with_number("max", dx.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* values = from.data<T>();
    const int64_t* at = index.data<int64_t>();
    T* to = dx.data<T>();
    for (int64_t i = 0; i < b.outer * b.inner; ++i)
      to[(i / b.inner * b.count + at[i]) * b.inner + i % b.inner] = values[i];
  });
  return dx;
}

Tensor finished(const Tensor& y, int axis, Axes axes) { return axes == Axes::keep ? y : y.squeeze(axis); }

template <class Better>
Tensor extreme(const char* name, const Tensor& x, int axis, Axes axes, Better better) {
  axis = x.shape().axis_index(axis);
  const Tensor index = best(name, x, axis, better);
  const Tensor y = with_gradient(name, pick(x, axis, index), {x}, [from = x.shape(), axis, index](const Tensor& dy) {
    return Gradients{put(dy, from, axis, index)};
  });
  return finished(y, axis, axes);
}

}  // namespace

Tensor sum_to(const Tensor& gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  Reduced reduced{};
  const int extra = gradient.rank() - shape.rank();
  for (int axis = 0; axis < gradient.rank(); ++axis) reduced[axis] = axis < extra || shape[axis - extra] == 1;
  return sum_marked(gradient, reduced).reshape(shape);
}

Tensor sum(const Tensor& x, const std::vector<int>& axes, Axes drop_or_keep) {
  const Reduced reduced = marked("sum", x.shape(), axes);
  const Tensor kept = sum_marked(x, reduced);
  Tensor y = drop_or_keep == Axes::keep ? kept : kept.reshape(without(x.shape(), reduced));
  if (!needs_gradient(x)) return y;
  return with_gradient("sum", y, {x}, [from = x.shape(), shape = kept.shape()](const Tensor& dy) {
    return Gradients{dy.reshape(shape).expand(from)};
  });
}

Tensor sum(const Tensor& x) { return sum(x, all_axes(x)); }

Tensor mean(const Tensor& x, const std::vector<int>& axes, Axes drop_or_keep) {
  const int64_t count = count_of(x.shape(), marked("mean", x.shape(), axes));
  return sum(x, axes, drop_or_keep) / static_cast<double>(count);
}

Tensor mean(const Tensor& x) { return mean(x, all_axes(x)); }

// Var(x) = mean((x − mean(x))²); its gradient is 2 (x − mean) / n, since the mean's own part sums to zero.
Tensor variance(const Tensor& x, const std::vector<int>& axes, Axes drop_or_keep) {
  const int64_t count = count_of(x.shape(), marked("variance", x.shape(), axes));
  const Tensor centred = x.detach() - mean(x.detach(), axes, Axes::keep);
  Tensor kept = mean(centred * centred, axes, Axes::keep);
  const Shape shape = kept.shape();
  Tensor y = drop_or_keep == Axes::keep ? kept : kept.reshape(without(x.shape(), marked("variance", x.shape(), axes)));
  if (!needs_gradient(x)) return y;
  return with_gradient("variance", y, {x}, [centred, shape, count](const Tensor& dy) {
    return Gradients{centred * (dy.reshape(shape) * (2.0 / static_cast<double>(count)))};
  });
}

Tensor max(const Tensor& x, int axis, Axes axes) {
  return extreme("max", x, axis, axes, [](auto a, auto b) { return a > b; });
}

Tensor min(const Tensor& x, int axis, Axes axes) {
  return extreme("min", x, axis, axes, [](auto a, auto b) { return a < b; });
}

Tensor argmax(const Tensor& x, int axis, Axes axes) {
  axis = x.shape().axis_index(axis);
  return finished(best("argmax", x, axis, [](auto a, auto b) { return a > b; }), axis, axes);
}

// log Σ e^x = m + log Σ e^(x − m) with m = max(x); a row of nothing but −∞ gives −∞.
Tensor log_sum_exp(const Tensor& x, int axis, Axes axes) {
  axis = x.shape().axis_index(axis);
  const Tensor values = x.detach(), largest = max(values, axis, Axes::keep);
  const Tensor shift = map("log_sum_exp", largest, [](auto m) { return std::isinf(m) ? decltype(m)(0) : m; });
  Tensor y = log(sum(exp(values - shift), {axis}, Axes::keep)) + shift;
  if (needs_gradient(x)) {
    y = with_gradient("log_sum_exp", y, {x},
                      [values, axis](const Tensor& dy) { return Gradients{softmax(values, axis) * dy}; });
  }
  return finished(y, axis, axes);
}

}  // namespace fovea
