#include "fovea/kernels/sum.h"

#include <algorithm>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/sum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float sum_of_row(const float* x, int64_t count) {
  return sum_of_terms(count, [&](int64_t i, auto part) HWY_ATTR { return part.load(x + i); });
}

void sum_of_columns(const Rows& m, const float* x, float* sums) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + 4 * lanes <= m.columns; c += 4 * lanes) {
    auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
    const float* p = x + c;
    for (int64_t r = 0; r < m.rows; ++r, p += m.stride) {
      s0 = hn::Add(s0, hn::LoadU(d, p));
      s1 = hn::Add(s1, hn::LoadU(d, p + lanes));
      s2 = hn::Add(s2, hn::LoadU(d, p + 2 * lanes));
      s3 = hn::Add(s3, hn::LoadU(d, p + 3 * lanes));
    }
    hn::StoreU(s0, d, sums + c);
    hn::StoreU(s1, d, sums + c + lanes);
    hn::StoreU(s2, d, sums + c + 2 * lanes);
    hn::StoreU(s3, d, sums + c + 3 * lanes);
  }
  for (; c + lanes <= m.columns; c += lanes) {
    auto s = hn::Zero(d);
    for (int64_t r = 0; r < m.rows; ++r) s = hn::Add(s, hn::LoadU(d, x + r * m.stride + c));
    hn::StoreU(s, d, sums + c);
  }
  for (; c < m.columns; ++c) {
    float s = 0;
    for (int64_t r = 0; r < m.rows; ++r) s += x[r * m.stride + c];
    sums[c] = s;
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(sum_of_row);
HWY_EXPORT(sum_of_columns);

namespace {

constexpr int64_t piece = 4096;      // elements of a row that are summed at once
constexpr int64_t piece_rows = 128;  // rows of a column that are summed at once
constexpr int64_t grain = 16384;     // elements that are worth another thread

int64_t pieces_of(int64_t size, int64_t of) { return (size + of - 1) / of; }

}  // namespace

void row_sums(const Rows& m, const float* x, float* sums) {
  const int64_t pieces = pieces_of(m.columns, piece);
  if (pieces <= 1) {
    parallel_ranges(m.rows, 1 + grain / std::max<int64_t>(1, m.columns), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) sums[r] = HWY_DYNAMIC_DISPATCH(sum_of_row)(x + r * m.stride, m.columns);
    });
    return;
  }
  Scratch scratch;
  float* partial = scratch.take<float>(m.rows * pieces);
  parallel_ranges(m.rows * pieces, 1 + grain / piece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i % pieces * piece, count = std::min(piece, m.columns - from);
      partial[i] = HWY_DYNAMIC_DISPATCH(sum_of_row)(x + i / pieces * m.stride + from, count);
    }
  });
  row_sums({.rows = m.rows, .columns = pieces, .stride = pieces}, partial, sums);
}

void column_sums(const Rows& m, const float* x, float* sums) {
  const int64_t pieces = pieces_of(m.rows, piece_rows);
  if (pieces <= 1) return HWY_DYNAMIC_DISPATCH(sum_of_columns)(m, x, sums);
  Scratch scratch;
  float* partial = scratch.take<float>(pieces * m.columns);
  const int64_t weight = piece_rows * std::max<int64_t>(1, m.columns);
  parallel_ranges(pieces, 1 + grain / weight, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i * piece_rows, count = std::min(piece_rows, m.rows - from);
      HWY_DYNAMIC_DISPATCH(sum_of_columns)
      ({.rows = count, .columns = m.columns, .stride = m.stride}, x + from * m.stride, partial + i * m.columns);
    }
  });
  column_sums({.rows = pieces, .columns = m.columns, .stride = m.columns}, partial, sums);
}

}  // namespace fovea::kernels
#endif
