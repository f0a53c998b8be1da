#include "fovea/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows that are normalised together: the sums of one are made while those of another are waited for.
inline constexpr int64_t rows_together = 8;

// The mean first and then the squares around it: one pass over squares would lose everything far from zero.
HWY_INLINE void norm_together(const NormOptions& o, const NormForward& f, int64_t row, int64_t rows) {
  const RowTag d;
  const float* const x = f.x + row * o.width;
  float* const y = f.y + row * o.width;
  const float count = static_cast<float>(o.width);
  float mean[rows_together] = {}, scale[rows_together];
  for (int64_t r = 0; o.norm == Norm::layer && r < rows; ++r) {
    const auto number = [&](int64_t i, auto part) HWY_ATTR { return part.load(x + r * o.width + i); };
    mean[r] = sum_of_terms(o.width, number) / count;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const float squares = sum_of_terms(o.width, [&](int64_t i, auto part) HWY_ATTR {
      const RowVector centred = hn::Sub(part.load(x + r * o.width + i), hn::Set(d, mean[r]));
      return hn::Mul(centred, centred);
    });
    scale[r] = 1.0f / std::sqrt(squares / count + o.epsilon);
  }
  for (int64_t r = 0; r < rows; ++r) {
    const RowVector m = hn::Set(d, mean[r]), s = hn::Set(d, scale[r]);
    const float *const from = x + r * o.width, *const weight = f.weight, *const bias = f.bias;
    float* const to = y + r * o.width;
    const auto normal = [&](int64_t i, auto part) HWY_ATTR { return hn::Mul(hn::Sub(part.load(from + i), m), s); };
    if (weight && bias) {
      for_each_vector(o.width, [&](int64_t i, auto part) HWY_ATTR {
        part.store(hn::Add(hn::Mul(normal(i, part), part.load(weight + i)), part.load(bias + i)), to + i);
      });
    } else {
      for_each_vector(o.width, [&](int64_t i, auto part) HWY_ATTR {
        RowVector v = normal(i, part);
        if (weight) v = hn::Mul(v, part.load(weight + i));
        if (bias) v = hn::Add(v, part.load(bias + i));
        part.store(v, to + i);
      });
    }
    if (f.mean) f.mean[row + r] = mean[r];
    if (f.scale) f.scale[row + r] = scale[r];
  }
}

void norm_rows(const NormOptions& o, const NormForward& f, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; row += rows_together)
    norm_together(o, f, row, HWY_MIN(rows_together, end - row));
}

// With x̂ = (x − mean) · scale and g = dy · weight:  dx = scale (g − mean(g) − x̂ mean(g x̂)); rms norm has no mean(g).
// Adds the row's dy x̂ and dy to dweight and dbias.
void gradient_row(const NormOptions& o, const NormBackward& b, int64_t row) {
  const RowTag d;
  const float *x = b.x + row * o.width, *dy = b.dy + row * o.width;
  const RowVector m = hn::Set(d, o.norm == Norm::layer ? b.mean[row] : 0.0f), s = hn::Set(d, b.scale[row]);
  const auto normal = [&](int64_t i, auto part) HWY_ATTR { return hn::Mul(hn::Sub(part.load(x + i), m), s); };
  if (b.dweight) {
    for_each_vector(o.width, [&](int64_t i, auto part) HWY_ATTR {
      part.store(hn::MulAdd(part.load(dy + i), normal(i, part), part.load(b.dweight + i)), b.dweight + i);
    });
  }
  if (b.dbias) {
    for_each_vector(o.width, [&](int64_t i, auto part) HWY_ATTR {
      part.store(hn::Add(part.load(dy + i), part.load(b.dbias + i)), b.dbias + i);
    });
  }
  if (!b.dx) return;
  const auto weighted = [&](int64_t i, auto part) HWY_ATTR {
    const RowVector g = part.load(dy + i);
    return b.weight ? hn::Mul(g, part.load(b.weight + i)) : g;
  };
  const float count = static_cast<float>(o.width);
  float mean = 0;
  if (o.norm == Norm::layer) {
    mean = sum_of_terms(o.width, [&](int64_t i, auto part) HWY_ATTR { return weighted(i, part); }) / count;
  }
  const float along = sum_of_terms(o.width, [&](int64_t i, auto part)
                                                HWY_ATTR { return hn::Mul(weighted(i, part), normal(i, part)); }) /
                      count;
  const RowVector mean_of_g = hn::Set(d, mean), slope = hn::Set(d, along);
  float* dx = b.dx + row * o.width;
  for_each_vector(o.width, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector v = hn::NegMulAdd(normal(i, part), slope, hn::Sub(weighted(i, part), mean_of_g));
    part.store(hn::Mul(v, s), dx + i);
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(norm_rows);
HWY_EXPORT(gradient_row);

constexpr int64_t grain = 8192;     // elements that are worth another thread
constexpr int64_t piece_rows = 32;  // rows whose dweight and dbias are added up at once

}  // namespace

void norm(const NormOptions& o, const NormForward& f) {
  parallel_ranges(o.rows, 1 + grain / std::max<int64_t>(1, o.width), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(norm_rows)(o, f, begin, end);
  });
}

void norm_gradient(const NormOptions& o, const NormBackward& b) {
  const int64_t pieces = (o.rows + piece_rows - 1) / piece_rows, sums = (b.dweight ? 1 : 0) + (b.dbias ? 1 : 0);
  Scratch scratch;
  float* partial = scratch.take<float>(pieces * sums * o.width);
  std::fill_n(partial, pieces * sums * o.width, 0.0f);
  parallel_ranges(pieces, 1 + grain / (piece_rows * std::max<int64_t>(1, o.width)), [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      NormBackward mine = b;
      float* at = partial + piece * sums * o.width;
      if (b.dweight) mine.dweight = at, at += o.width;
      if (b.dbias) mine.dbias = at;
      const int64_t first = piece * piece_rows, last = std::min(o.rows, first + piece_rows);
      for (int64_t row = first; row < last; ++row) HWY_DYNAMIC_DISPATCH(gradient_row)(o, mine, row);
    }
  });
  const Rows rows = {.rows = pieces, .columns = o.width, .stride = sums * o.width};
  if (b.dweight) column_sums(rows, partial, b.dweight);
  if (b.dbias) column_sums(rows, partial + (sums - 1) * o.width, b.dbias);
}

}  // namespace fovea::kernels
#endif
