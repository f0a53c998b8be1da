#include "fovea/explain/window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/gemm.h"
#include "fovea/kernels/pool.h"
#include "fovea/kernels/select.h"

namespace fovea {
namespace {

constexpr int64_t block_rows = 64,
                  block_columns = 1024;  // of weights that a thread has at hand: they stay in its cache
constexpr int64_t block_cells = int64_t{1} << 22;

// The cells of a window, and the squares that they make.
struct Cells {
  int64_t level, row, column, row_end, column_end;

  Cells(const Window& w, int64_t rows, int64_t columns) : level(w.level), row(w.row), column(w.column) {
    const int64_t most = std::numeric_limits<int32_t>::max();
    require(0 <= level && level <= 31 && 0 <= row && row < rows && 0 <= column && column < columns && 0 < w.rows &&
                w.rows <= most && 0 < w.columns && w.columns <= most,
            "window: found level {} of {} × {} squares from {}, {} on, expected them within {} × {} weights", level,
            w.rows, w.columns, row, column, rows, columns);
    row_end = std::min(rows, row + w.rows * side()), column_end = std::min(columns, column + w.columns * side());
  }
  int64_t side() const { return int64_t{1} << level; }
  int64_t down() const { return (row_end - row + side() - 1) >> level; }
  int64_t across() const { return (column_end - column + side() - 1) >> level; }
};

// Squares that rows of weights are added to, a run of columns at a time. Whoever adds to a row of squares is alone there.
class Squares final {
 public:
  explicit Squares(const Cells& c) : cells_(c) {
    result_.rows = c.down(), result_.columns = c.across();
    const auto count = static_cast<size_t>(result_.rows * result_.columns);
    result_.largest.resize(count), result_.mean.resize(count), sums_.resize(count);
  }

  // What a run of columns had in some rows of one row of squares: the largest and the sum of each column.
  void add(int64_t row, int64_t column, int64_t count, const float* largest, const float* sums) {
    const int64_t first = ((row - cells_.row) >> cells_.level) * result_.columns;
    for (int64_t j = 0; j < count;) {
      const int64_t square = (column + j - cells_.column) >> cells_.level;
      const int64_t end = std::min(count, ((square + 1) << cells_.level) + cells_.column - column);
      const auto at = static_cast<size_t>(first + square);
      for (; j < end; ++j) {
        if (!(largest[j] <= result_.largest[at])) result_.largest[at] = largest[j];
        sums_[at] += static_cast<double>(sums[j]);
      }
    }
  }

  Pooled finish() {
    for (int64_t i = 0; i < result_.rows; ++i) {
      for (int64_t j = 0; j < result_.columns; ++j) {
        const int64_t cells = std::min(cells_.side(), cells_.row_end - cells_.row - (i << cells_.level)) *
                              std::min(cells_.side(), cells_.column_end - cells_.column - (j << cells_.level));
        const auto at = static_cast<size_t>(i * result_.columns + j);
        result_.mean[at] = static_cast<float>(sums_[at] / static_cast<double>(cells));
      }
    }
    return std::move(result_);
  }

 private:
  Cells cells_;
  Pooled result_;
  std::vector<double> sums_;
};

// The largest weights of each row so far, falling, equal ones by rising column. Whoever adds to a row is alone there.
class LargestOfRows final {
 public:
  LargestOfRows(int64_t rows, int64_t top)
      : top_(top), weights_(zeros({rows, top})), columns_(full({rows, top}, -1, DType::i64)) {}

  // A run of columns behind all that the row had before.
  void add(int64_t row, int64_t column, std::span<const float> w) {
    float* weights = weights_.data<float>() + row * top_;
    int64_t* columns = columns_.data<int64_t>() + row * top_;
    const auto size = static_cast<int64_t>(w.size());
    for (int64_t j = 0; j < size;) {
      const kernels::RunAbove run = kernels::next_above(w, j, weights[top_ - 1]);
      for (j = run.begin; j < run.end; ++j) insert(w[static_cast<size_t>(j)], column + j, weights, columns);
    }
  }

  Tensor weights() const { return weights_; }
  Tensor columns() const { return columns_; }

 private:
  void insert(float w, int64_t column, float* weights, int64_t* columns) const {
    if (!(w > weights[top_ - 1])) return;
    int64_t at = top_ - 1;
    for (; at > 0 && w > weights[at - 1]; --at) weights[at] = weights[at - 1], columns[at] = columns[at - 1];
    weights[at] = w, columns[at] = column;
  }

  int64_t top_;
  Tensor weights_, columns_;
};

// exp(scale · q·k − lse) as one product, [scale · q, −lse] · [k, 1], for the keys of a range.
class Product final {
 public:
  Product(const KeptAttention::Parts& p, int64_t column, int64_t count)
      : parts_(p), column_(column), depth_(p.q.size(1) + 1) {
    packed_.resize(static_cast<size_t>(kernels::packed_size(depth_, count)));
    const float one = 1;
    const kernels::Matrix keys = {p.k.data<float>() + column * p.k.stride(0), p.k.stride(1), p.k.stride(0)};
    kernels::pack(keys, depth_ - 1, count, packed_.data(), depth_);
    kernels::pack({&one, 0, 0}, 1, count, packed_.data() + (depth_ - 1) * kernels::panel_width, depth_);
  }

  // The weights of some rows, whose queries are in `q`; the first column is a multiple of a panel's width behind the range's.
  void weights(const std::vector<float>& q, int64_t row, int64_t rows, int64_t column, int64_t columns,
               float* w) const {
    const float* keys = packed_.data() + (column - column_) * depth_;
    kernels::gemm_here({rows, columns, depth_}, {q.data(), depth_}, keys, {w, columns});
    kernels::apply(kernels::Unary::exp, rows * columns, w, w);
    if (!parts_.causal) return;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t seen = std::clamp<int64_t>(row + i + 1 - column, 0, columns);
      std::fill(w + i * columns + seen, w + (i + 1) * columns, 0.0f);
    }
  }

  std::vector<float> queries(int64_t row, int64_t rows) const {
    std::vector<float> q(static_cast<size_t>(rows * depth_));
    for (int64_t i = 0; i < rows; ++i) {
      const float *from = parts_.q.data<float>() + (row + i) * parts_.q.stride(0),
                  lse = parts_.lse.data<float>()[row + i];
      float* to = q.data() + i * depth_;
      for (int64_t d = 0; d < depth_ - 1; ++d) to[d] = static_cast<float>(parts_.scale) * from[d * parts_.q.stride(1)];
      const float infinity = std::numeric_limits<float>::infinity();
      to[depth_ - 1] = lse == -infinity ? -infinity : -lse;  // a row that sees nothing
    }
    return q;
  }

  // The first column behind all that a row sees.
  int64_t seen_end(int64_t row, int64_t end) const { return parts_.causal ? std::min(end, row + 1) : end; }

 private:
  const KeptAttention::Parts& parts_;
  int64_t column_, depth_;
  std::vector<float> packed_;
};

// What a window is reduced to, by whoever has its weights.
struct Reducing {
  Squares squares;
  LargestOfRows* largest = nullptr;  // of windows that begin at the first row
};

// Rows of squares are shared out over the threads, and each is computed a block at a time.
void add_parts(Reducing& to, const KeptAttention::Parts& parts, const Cells& c) {
  const Product product(parts, c.column, c.column_end - c.column);
  const int64_t strip = std::max(c.side(), block_rows), strips = (c.row_end - c.row + strip - 1) / strip;
  parallel_for(strips, [&](int64_t s) {
    const int64_t begin = c.row + (strips - 1 - s) * strip,
                  end = std::min(c.row_end, begin + strip);  // the longest first
    std::vector<float> w(static_cast<size_t>(block_rows * block_columns)), most(block_columns), sums(block_columns);
    for (int64_t row = begin; row < end; row += block_rows) {
      const int64_t rows = std::min(block_rows, end - row);
      const std::vector<float> q = product.queries(row, rows);
      const int64_t seen_end = product.seen_end(row + rows - 1, c.column_end);
      for (int64_t column = c.column; column < seen_end; column += block_columns) {
        const int64_t columns = std::min(block_columns, c.column_end - column);
        product.weights(q, row, rows, column, columns, w.data());
        const auto of_row = [&](int64_t i) { return w.data() + i * columns; };
        if (to.largest)
          for (int64_t i = 0; i < rows; ++i)
            to.largest->add(row + i, column, {of_row(i), static_cast<size_t>(columns)});
        for (int64_t i = 0, next; i < rows; i = next) {
          next = std::min(
              rows, ((row + i - c.row) / c.side() + 1) * c.side() - (row - c.row));  // where a row of squares ends
          kernels::pool_columns({next - i, columns, columns}, of_row(i), most.data(), sums.data());
          to.squares.add(row + i, column, columns, most.data(), sums.data());
        }
      }
    }
  });
}

void add_weights(Reducing& to, const RecordedPlace& p, size_t number, const Cells& c) {
  const int64_t columns = c.column_end - c.column, block = std::max<int64_t>(1, block_cells / columns);
  for (int64_t begin = c.row; begin < c.row_end; begin += block) {
    const Tensor w = p.part(number, {begin, std::min(c.row_end, begin + block)}, {c.column, c.column_end});
    for (int64_t i = 0; i < w.size(0); ++i) {
      const float* row = w.data<float>() + i * columns;
      to.squares.add(begin + i, c.column, columns, row, row);
      if (to.largest) to.largest->add(begin + i, c.column, {row, static_cast<size_t>(columns)});
    }
  }
}

void add_all(Reducing& to, const RecordedPlace& p, size_t number, const Cells& c) {
  const KeptAttention::Parts parts = parts_of(p, number);
  if (parts.q)
    add_parts(to, parts, c);
  else
    add_weights(to, p, number, c);
}

// Squares of squares: the largest of their largest; the mean of their means, each counting as its cells.
Pooled from_squares(const RecordedPlace& p, size_t number, const Cells& c) {
  const PooledHeads& from = p.pooled;
  const int64_t side = int64_t{1} << from.level, across = from.largest.size(2);
  const auto head = static_cast<int64_t>(number) * from.largest.size(1) * across;
  Squares squares(c);
  for (int64_t row = c.row; row < c.row_end; row += side) {
    for (int64_t column = c.column; column < c.column_end; column += side) {
      const int64_t at = head + (row >> from.level) * across + (column >> from.level);
      const int64_t cells = std::min(side, p.rows() - row) * std::min(side, p.columns() - column);
      const float sum = from.mean.data<float>()[at] * static_cast<float>(cells);
      squares.add(row, column, 1, from.largest.data<float>() + at, &sum);
    }
  }
  return squares.finish();
}

bool begins_with_a_square(const Cells& c) { return c.row % c.side() == 0 && c.column % c.side() == 0; }

}  // namespace

KeptAttention::Parts parts_of(const RecordedPlace& p, size_t number) {
  require(number < p.heads.size(), "{}: found head number {}, expected less than {}", p.place.path, number,
          p.heads.size());
  if (!p.kept) return {};
  const KeptAttention::Parts parts = p.kept->parts(0, p.heads[number]);
  return parts.q && parts.q.size(0) == p.rows() && parts.k.size(0) == p.columns() ? parts : KeptAttention::Parts{};
}

Tensor weights_of(const KeptAttention::Parts& p, Range rows, Range columns) {
  const Cells c({0, rows.begin, columns.begin, (rows.end < 0 ? p.q.size(0) : rows.end) - rows.begin,
                 (columns.end < 0 ? p.k.size(0) : columns.end) - columns.begin},
                p.q.size(0), p.k.size(0));
  const int64_t height = c.row_end - c.row, width = c.column_end - c.column;
  const Product product(p, c.column, width);
  Tensor result({height, width}, DType::f32);
  parallel_for((height + block_rows - 1) / block_rows, [&](int64_t s) {
    const int64_t row = c.row + s * block_rows, count = std::min(block_rows, c.row_end - row);
    product.weights(product.queries(row, count), row, count, c.column, width,
                    result.data<float>() + (row - c.row) * width);
  });
  return result;
}

Pooled pooled(const RecordedPlace& p, size_t number, const Window& window) {
  const Cells c(window, p.rows(), p.columns());
  if (p.pooled.largest && c.level >= p.pooled.level && begins_with_a_square(c)) return from_squares(p, number, c);
  Reducing to = {Squares(c)};
  add_all(to, p, number, c);
  return to.squares.finish();
}

Reduced reduced(const RecordedPlace& p, size_t number, const ReduceOptions& r) {
  require(0 < r.top && r.top <= p.columns(), "window: found the {} largest weights of a row, expected 1 to {}", r.top,
          p.columns());
  const Cells c({r.level, 0, 0, p.rows(), p.columns()}, p.rows(), p.columns());
  LargestOfRows largest(p.rows(), r.top);
  Reducing to = {Squares(c), &largest};
  add_all(to, p, number, c);
  return {to.squares.finish(), largest.weights(), largest.columns()};
}

}  // namespace fovea
