#include "fovea/tensor/index.h"

#include <algorithm>
#include <type_traits>

#include "fovea/kernels/elementwise.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

constexpr int64_t grain = 16384;  // elements that are worth another thread

// Contiguous indices, each checked to be in [0, size).
Tensor checked(const char* operation, const Tensor& index, int64_t size) {
  require(index.dtype() == DType::i64, "{}: found indices of type {}, expected I64", operation, name(index.dtype()));
  const Tensor result = index.contiguous();
  const int64_t* i = result.data<int64_t>();
  for (int64_t n = 0; n < result.elements(); ++n) {
    if (i[n] < 0 || i[n] >= size)
      throw Error(Error::invalid, "{}: found index {} at place {}, expected 0 to {}", operation, i[n], n, size - 1);
  }
  return result;
}

void add_row(int64_t count, const float* x, float* sum) {
  kernels::combine(kernels::Binary::add, count, {sum}, {x}, sum);
}

void add_row(int64_t count, const double* x, double* sum) {
  for (int64_t i = 0; i < count; ++i) sum[i] += x[i];
}

// Each row of dy is added to the table's row of its id, in the order of the ids. Threads share the width, not the ids:
// an id that comes often would otherwise be added to from several of them.
Tensor rows_gradient(const Tensor& gradient, const Shape& table, const Tensor& ids, int64_t still) {
  const Tensor dy = gradient.contiguous();
  Tensor sums(table, dy.dtype());
  const int64_t count = ids.elements(), width = table[0] == 0 ? 0 : table.elements() / table[0];
  const int64_t* id = ids.data<int64_t>();
  with_number("rows", dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = dy.data<T>();
    T* to = sums.data<T>();
    parallel_ranges(sums.elements(), 1 << 17,
                    [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, T(0)); });
    parallel_ranges(width, std::max<int64_t>(64, 1 + grain / std::max<int64_t>(1, count)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = 0; i < count; ++i) {
                        if (id[i] == still) continue;
                        add_row(end - begin, from + i * width + begin, to + id[i] * width + begin);
                      }
                    });
  });
  return sums;
}

// Walks along the axis of tensors of the index's shape, line by line; a line's elements are visited in order by one
// thread.
struct Lines {
  Shape shape;  // without the axis
  std::vector<Shape> strides;
  int64_t length;

  Lines(const Shape& index, int axis, std::initializer_list<const Tensor*> tensors)
      : shape(index), length(index[axis]) {
    shape.erase(axis);
    for (const Tensor* t : tensors) {
      strides.push_back(t->strides());
      strides.back().erase(axis);
    }
  }

  template <class Body>  // body(offsets)
  void for_each(Body&& body) const {
    parallel_ranges(shape.elements(), 1 + grain / std::max<int64_t>(1, length), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        std::array<int64_t, 3> at{};
        int64_t rest = line;
        for (int axis = shape.rank() - 1; axis >= 0; --axis) {
          for (size_t o = 0; o < strides.size(); ++o) at[o] += rest % shape[axis] * strides[o][axis];
          rest /= shape[axis];
        }
        body(at);
      }
    });
  }
};

void check_index_shape(const char* operation, const Tensor& x, int axis, const Tensor& index) {
  bool fits = index.rank() == x.rank();
  for (int a = 0; fits && a < x.rank(); ++a) fits = a == axis || index.size(a) <= x.size(a);
  require(fits, "{}: found indices {} for x {}, expected as many axes, none but axis {} longer than x's", operation,
          index.shape(), x.shape(), axis);
}

Tensor gathered(const Tensor& x, int axis, const Tensor& index) {
  Tensor y(index.shape(), x.dtype());
  with_type(x.dtype(), [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    const T* from = x.data<T>();
    const int64_t* which = index.data<int64_t>();
    T* to = y.data<T>();
    const int64_t x_step = x.stride(axis), step = index.stride(axis), y_step = y.stride(axis);
    const Lines lines(index.shape(), axis, {&x, &index, &y});
    lines.for_each([&](const auto& at) {
      for (int64_t i = 0; i < lines.length; ++i)
        to[at[2] + i * y_step] = from[at[0] + which[at[1] + i * step] * x_step];
    });
  });
  return y;
}

// y[index] += source, in place.
void scatter(Tensor& y, int axis, const Tensor& index, const Tensor& source) {
  with_number("scatter_add", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    const int64_t* which = index.data<int64_t>();
    T* to = y.data<T>();
    const int64_t source_step = source.stride(axis), step = index.stride(axis), y_step = y.stride(axis);
    const Lines lines(index.shape(), axis, {&source, &index, &y});
    lines.for_each([&](const auto& at) {
      for (int64_t i = 0; i < lines.length; ++i)
        to[at[2] + which[at[1] + i * step] * y_step] += from[at[0] + i * source_step];
    });
  });
}

// The shape of the parts joined along the axis.
Shape joined_shape(const std::vector<Tensor>& parts, int axis) {
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    require_same_type("concat", parts[0], part);
    bool fits = part.rank() == shape.rank();
    for (int a = 0; fits && a < shape.rank(); ++a) fits = a == axis || part.size(a) == shape[a];
    require(fits, "concat: found {} beside {}, expected shapes that differ along axis {} only", part.shape(),
            parts[0].shape(), axis);
    shape[axis] += part.size(axis);
  }
  return shape;
}

}  // namespace

Tensor rows(const Tensor& table, const Tensor& ids, int64_t still) {
  require(table.rank() > 0, "rows: found a single number, expected a table");
  const Tensor from = table.detach().contiguous(), index = checked("rows", ids, table.size(0));
  Shape shape = ids.shape();
  for (int axis = 1; axis < table.rank(); ++axis) shape.push_back(table.size(axis));
  Tensor y(shape, table.dtype());
  const int64_t count = ids.elements(), width = count == 0 ? 0 : y.elements() / count;
  with_type(table.dtype(), [&](auto* of) {
    using T = std::remove_pointer_t<decltype(of)>;
    const T* source = from.data<T>();
    const int64_t* id = index.data<int64_t>();
    T* to = y.data<T>();
    parallel_ranges(count, 1 + grain / std::max<int64_t>(1, width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) std::copy_n(source + id[i] * width, width, to + i * width);
    });
  });
  if (!needs_gradient(table)) return y;
  return with_gradient("rows", y, {table}, [shape = table.shape(), index, still](const Tensor& dy) {
    return Gradients{rows_gradient(dy, shape, index, still)};
  });
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  axis = x.shape().axis_index(axis);
  check_index_shape("gather", x, axis, index);
  const Tensor which = checked("gather", index, x.size(axis));
  Tensor y = gathered(x.detach(), axis, which);
  if (!needs_gradient(x)) return y;
  return with_gradient("gather", y, {x}, [shape = x.shape(), axis, which](const Tensor& dy) {
    Tensor dx = zeros(shape, dy.dtype());
    scatter(dx, axis, which, dy);
    return Gradients{dx};
  });
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
  axis = x.shape().axis_index(axis);
  require_same_type("scatter_add", x, source);
  check_index_shape("scatter_add", x, axis, index);
  require(source.shape() == index.shape(), "scatter_add: found a source {}, expected {} as the indices have",
          source.shape(), index.shape());
  const Tensor which = checked("scatter_add", index, x.size(axis));
  Tensor y = x.detach().clone();
  scatter(y, axis, which, source.detach());
  if (!needs_gradient(x, source)) return y;
  return with_gradient("scatter_add", y, {x, source}, [axis, which](const Tensor& dy) {
    return Gradients{dy, gathered(dy, axis, which)};
  });
}

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  require(!parts.empty(), "concat: found no tensor, expected at least one");
  axis = parts[0].shape().axis_index(axis);
  Tensor y(joined_shape(parts, axis), parts[0].dtype());
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (const Tensor& part : parts) {
    y.slice(axis, end, end + part.size(axis)).copy_from(part);
    ends.push_back(end += part.size(axis));
  }
  if (!any_needs_gradient(parts)) return y;
  return with_gradient("concat", y, parts, [axis, ends](const Tensor& dy) {
    Gradients gradients;
    for (size_t i = 0; i < ends.size(); ++i) gradients.push_back(dy.slice(axis, i == 0 ? 0 : ends[i - 1], ends[i]));
    return gradients;
  });
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  require(!parts.empty(), "stack: found no tensor, expected at least one");
  if (axis < 0) axis += parts[0].rank() + 1;
  std::vector<Tensor> raised;
  for (const Tensor& part : parts) {
    require(part.shape() == parts[0].shape(), "stack: found {} beside {}, expected equal shapes", part.shape(),
            parts[0].shape());
    raised.push_back(part.unsqueeze(axis));
  }
  return concat(raised, axis);
}

// One node for all parts: the gradients of many small slices would each fill a tensor as large as x.
std::vector<Tensor> split(const Tensor& x, int axis, const std::vector<int64_t>& sizes) {
  axis = x.shape().axis_index(axis);
  int64_t total = 0;
  for (int64_t size : sizes) total += size;
  require(total == x.size(axis), "split: found sizes that sum to {}, expected {} as axis {} of {}", total, x.size(axis),
          axis, x.shape());
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    parts.push_back(x.detach().slice(axis, begin, begin + size));
    begin += size;
  }
  if (!needs_gradient(x)) return parts;
  return with_gradient("split", parts, {x},
                       [shape = x.shape(), type = x.dtype(), axis, sizes](std::span<const Tensor> dy) {
                         Tensor dx(shape, type);
                         int64_t begin = 0;
                         for (size_t i = 0; i < sizes.size(); ++i) {
                           Tensor part = dx.slice(axis, begin, begin + sizes[i]);
                           if (dy[i])
                             part.copy_from(dy[i]);
                           else
                             part.fill(0);
                           begin += sizes[i];
                         }
                         return Gradients{dx};
                       });
}

}  // namespace fovea
