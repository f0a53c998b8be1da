#include "fovea/kernels/optimiser.h"

#include <algorithm>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/optimiser.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void adam_range(const AdamStep& s, const AdamNumbers& n) {
  const RowTag d;
  const RowVector rate = hn::Set(d, s.rate), epsilon = hn::Set(d, s.epsilon), correction = hn::Set(d, s.correction);
  const RowVector beta2 = hn::Set(d, static_cast<float>(s.beta2));
  const RowVector share1 = hn::Set(d, static_cast<float>(1 - s.beta1));
  const RowVector share2 = hn::Set(d, static_cast<float>(1 - s.beta2));
  const RowVector keep = hn::Set(d, s.keep), penalty = hn::Set(d, s.penalty), scale = hn::Set(d, s.scale);
  for_each_vector(n.count, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector w = part.load(n.weight + i), m0 = part.load(n.first + i), v0 = part.load(n.second + i);
    const RowVector g = hn::MulAdd(penalty, w, hn::Mul(scale, part.load(n.gradient + i)));
    const RowVector m = hn::MulAdd(share1, hn::Sub(g, m0), m0);
    const RowVector v = hn::MulAdd(beta2, v0, hn::Mul(share2, hn::Mul(g, g)));
    const RowVector below = hn::MulAdd(hn::Sqrt(v), correction, epsilon);
    part.store(m, n.first + i);
    part.store(v, n.second + i);
    part.store(hn::NegMulAdd(rate, hn::Div(m, below), hn::Mul(keep, w)), n.weight + i);
  });
}

void momentum_range(const MomentumStep& s, const MomentumNumbers& n) {
  const RowTag d;
  const RowVector rate = hn::Set(d, s.rate), momentum = hn::Set(d, s.momentum);
  const RowVector penalty = hn::Set(d, s.penalty), scale = hn::Set(d, s.scale);
  for_each_vector(n.count, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector w = part.load(n.weight + i);
    const RowVector g = hn::MulAdd(penalty, w, hn::Mul(scale, part.load(n.gradient + i)));
    const RowVector u = hn::MulAdd(momentum, part.load(n.velocity + i), g);
    part.store(u, n.velocity + i);
    part.store(hn::NegMulAdd(rate, u, w), n.weight + i);
  });
}

void blend_range(float share, int64_t count, const float* source, float* target) {
  const RowVector part_of = hn::Set(RowTag(), share);
  for_each_vector(count, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector t = part.load(target + i);
    part.store(hn::MulAdd(part_of, hn::Sub(part.load(source + i), t), t), target + i);
  });
}

float squares_of_piece(int64_t count, const float* x) {
  return sum_of_terms(count, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector v = part.load(x + i);
    return hn::Mul(v, v);
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(adam_range);
HWY_EXPORT(momentum_range);
HWY_EXPORT(blend_range);
HWY_EXPORT(squares_of_piece);

namespace {
constexpr int64_t grain = 16384;  // elements that are worth another thread
constexpr int64_t piece = 4096;   // elements whose squares are summed at once
}  // namespace

void adam(const AdamStep& step, const AdamNumbers& n) {
  parallel_ranges(n.count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(adam_range)
    (step, {end - begin, n.gradient + begin, n.weight + begin, n.first + begin, n.second + begin});
  });
}

void momentum(const MomentumStep& step, const MomentumNumbers& n) {
  parallel_ranges(n.count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(momentum_range)
    (step, {end - begin, n.gradient + begin, n.weight + begin, n.velocity + begin});
  });
}

void blend(float share, int64_t count, const float* source, float* target) {
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(blend_range)(share, end - begin, source + begin, target + begin);
  });
}

double sum_of_squares(int64_t count, const float* x) {
  const int64_t pieces = (count + piece - 1) / piece;
  Scratch scratch;
  float* partial = scratch.take<float>(pieces);
  parallel_ranges(pieces, grain / piece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      partial[i] = HWY_DYNAMIC_DISPATCH(squares_of_piece)(std::min(piece, count - i * piece), x + i * piece);
    }
  });
  double sum = 0;
  for (int64_t i = 0; i < pieces; ++i) sum += static_cast<double>(partial[i]);
  return sum;
}

}  // namespace fovea::kernels
#endif
