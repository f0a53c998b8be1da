#include "fovea/tensor/convolution.h"

#include <algorithm>

#include "fovea/base/threads.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

struct Plan {
  int64_t batch, channels, rows, columns, outputs, kernel_rows, kernel_columns, out_rows, out_columns;
  ConvolutionOptions options;

  int64_t depth() const { return channels / options.groups * kernel_rows * kernel_columns; }
  int64_t positions() const { return out_rows * out_columns; }
  Shape weight_shape() const { return {1, options.groups, outputs / options.groups, depth()}; }
  Shape output_shape(int64_t items) const { return {items, options.groups, outputs / options.groups, positions()}; }
};

// How many places a kernel fits along one axis.
int64_t places(int64_t size, int64_t kernel, const ConvolutionOptions& o, size_t axis) {
  const int64_t reach = o.dilation[axis] * (kernel - 1) + 1, padded = size + 2 * o.padding[axis];
  return padded < reach ? 0 : (padded - reach) / o.stride[axis] + 1;
}

Plan checked_plan(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvolutionOptions& o) {
  require_same_type("convolution", x, w);
  for (size_t axis : {0u, 1u}) {
    require(o.stride[axis] > 0 && o.dilation[axis] > 0 && o.padding[axis] >= 0,
            "convolution: found stride {}, dilation {} and padding {}, expected at least 1, 1 and 0", o.stride[axis],
            o.dilation[axis], o.padding[axis]);
  }
  require(x.rank() == 4 && w.rank() == 4 && o.groups > 0 && x.size(1) == w.size(1) * o.groups &&
              w.size(0) % o.groups == 0 && w.elements() > 0,
          "convolution: found x {}, weight {} and {} groups, expected [batch, channels, rows, columns] and [outputs, "
          "channels / groups, kernel rows, kernel columns]",
          x.shape(), w.shape(), o.groups);
  require(!bias || (bias.shape() == Shape{w.size(0)} && bias.dtype() == x.dtype()),
          "convolution: found bias {}, expected [{}] of x's type", bias ? bias.shape() : Shape(), w.size(0));
  Plan p = {x.size(0), x.size(1), x.size(2), x.size(3), w.size(0), w.size(2), w.size(3), 0, 0, o};
  p.out_rows = places(p.rows, p.kernel_rows, o, 0);
  p.out_columns = places(p.columns, p.kernel_columns, o, 1);
  require(p.positions() > 0, "convolution: found x {} for a kernel of {} × {}, which fits nowhere", x.shape(),
          p.kernel_rows, p.kernel_columns);
  return p;
}

// body(column of the output, column of the input) for the places of output row `row` where element (i, j) of the kernel
// meets the input; none if its row is padding.
template <class Body>
void for_each_meeting(const Plan& p, int64_t row, int64_t i, int64_t j, Body&& body) {
  const ConvolutionOptions& o = p.options;
  const int64_t in_row = row * o.stride[0] + i * o.dilation[0] - o.padding[0];
  if (in_row < 0 || in_row >= p.rows) return;
  const int64_t shift = j * o.dilation[1] - o.padding[1];
  const int64_t begin = shift >= 0 ? 0 : (-shift + o.stride[1] - 1) / o.stride[1];
  const int64_t end = p.columns <= shift ? 0 : std::min(p.out_columns, (p.columns - 1 - shift) / o.stride[1] + 1);
  for (int64_t c = begin; c < end; ++c) body(row * p.out_columns + c, in_row * p.columns + c * o.stride[1] + shift);
}

// x [items, channels, rows, columns] → [items, groups, depth, positions]: each column holds what the kernel meets at a place.
template <class T>
void unfold(const Plan& p, const Tensor& x, Tensor& unfolded) {
  const int64_t kernel = p.kernel_rows * p.kernel_columns, plane = p.rows * p.columns;
  parallel_ranges(x.size(0) * p.channels, 1 + 16384 / (kernel * p.positions()), [&](int64_t first, int64_t last) {
    for (int64_t channel = first; channel < last; ++channel) {
      const T* in = x.data<T>() + channel * plane;
      for (int64_t k = 0; k < kernel; ++k) {
        T* out = unfolded.data<T>() + (channel * kernel + k) * p.positions();
        std::fill_n(out, p.positions(), T{0});
        for (int64_t row = 0; row < p.out_rows; ++row) {
          for_each_meeting(p, row, k / p.kernel_columns, k % p.kernel_columns,
                           [&](int64_t to, int64_t from) { out[to] = in[from]; });
        }
      }
    }
  });
}

// The way back: everything that came from an element of x is added up, in the order of the kernel's elements.
template <class T>
void fold(const Plan& p, const Tensor& unfolded, Tensor& dx) {
  const int64_t kernel = p.kernel_rows * p.kernel_columns, plane = p.rows * p.columns;
  parallel_ranges(dx.size(0) * p.channels, 1 + 16384 / (kernel * p.positions()), [&](int64_t first, int64_t last) {
    for (int64_t channel = first; channel < last; ++channel) {
      T* out = dx.data<T>() + channel * plane;
      std::fill_n(out, plane, T{0});
      for (int64_t k = 0; k < kernel; ++k) {
        const T* in = unfolded.data<T>() + (channel * kernel + k) * p.positions();
        for (int64_t row = 0; row < p.out_rows; ++row) {
          for_each_meeting(p, row, k / p.kernel_columns, k % p.kernel_columns,
                           [&](int64_t from, int64_t to) { out[to] += in[from]; });
        }
      }
    }
  });
}

Tensor unfolded(const Plan& p, const Tensor& items) {
  Tensor result({items.size(0), p.options.groups, p.depth(), p.positions()}, items.dtype());
  with_number("convolution", items.dtype(), [&](auto zero) { unfold<decltype(zero)>(p, items, result); });
  return result;
}

// body(first item, last item) over blocks whose unfolded numbers stay within a few megabytes.
template <class Body>
void over_blocks(const Plan& p, Body&& body) {
  const int64_t each = p.options.groups * p.depth() * p.positions();
  const int64_t items = std::max<int64_t>(1, (int64_t{1} << 20) / each);
  for (int64_t begin = 0; begin < p.batch; begin += items) body(begin, std::min(p.batch, begin + items));
}

Tensor forward(const Plan& p, const Tensor& x, const Tensor& weight) {
  Tensor y({p.batch, p.outputs, p.out_rows, p.out_columns}, x.dtype());
  const Tensor w = weight.reshape(p.weight_shape());
  over_blocks(p, [&](int64_t begin, int64_t end) {
    y.slice(0, begin, end)
        .reshape(p.output_shape(end - begin))
        .copy_from(matmul(w, unfolded(p, x.slice(0, begin, end))));
  });
  return y;
}

Tensor input_gradient(const Plan& p, const Tensor& weight, const Tensor& dy) {
  Tensor dx({p.batch, p.channels, p.rows, p.columns}, dy.dtype());
  const Tensor w = weight.reshape(p.weight_shape()).transpose(-1, -2);
  over_blocks(p, [&](int64_t begin, int64_t end) {
    const Tensor g = matmul(w, dy.slice(0, begin, end).reshape(p.output_shape(end - begin)));
    Tensor part = dx.slice(0, begin, end);
    with_number("convolution", dy.dtype(), [&](auto zero) { fold<decltype(zero)>(p, g, part); });
  });
  return dx;
}

// Item after item, so that the sum has one order whatever the blocks.
Tensor weight_gradient(const Plan& p, const Tensor& x, const Tensor& dy, const Shape& shape) {
  Tensor sum = zeros(p.weight_shape(), dy.dtype());
  over_blocks(p, [&](int64_t begin, int64_t end) {
    const Tensor each = matmul(dy.slice(0, begin, end).reshape(p.output_shape(end - begin)),
                               unfolded(p, x.slice(0, begin, end)).transpose(-1, -2));
    for (int64_t i = 0; i < end - begin; ++i) add_into(sum, each.slice(0, i, i + 1));
  });
  return sum.reshape(shape);
}

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvolutionOptions& options) {
  const Plan p = checked_plan(x, weight, bias, options);
  const Tensor input = x.detach().contiguous(), w = weight.detach().contiguous();
  Tensor y = forward(p, input, w);
  if (needs_gradient(x, weight)) {
    y = with_gradient("convolution", y, {x, weight},
                      [p, input, w, for_x = x.needs_gradient(), for_w = weight.needs_gradient()](const Tensor& given) {
                        const Tensor dy = given.contiguous();
                        return Gradients{for_x ? input_gradient(p, w, dy) : Tensor(),
                                         for_w ? weight_gradient(p, input, dy, w.shape()) : Tensor()};
                      });
  }
  return bias ? y + bias.reshape({p.outputs, 1, 1}) : y;
}

}  // namespace fovea
