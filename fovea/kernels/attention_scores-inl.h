// What happens to a row of scores between the two products: softcap, biases, masks, the running softmax, dropout.
#if defined(FOVEA_KERNELS_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#undef FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "fovea/kernels/attention_plan.h"
#include "fovea/kernels/attention_tiles-inl.h"
#include "fovea/kernels/exp2-inl.h"
#include "fovea/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// A row of the score matrix: which one it is, and what causality and the window let it see.
struct Row {
  int64_t sequence = 0, head = 0, query = 0;
  int64_t shift = 0;  // of its sequence
  KeyRange seen;
};

// Columns [first, last) of the key block that starts at key `start`; multiples of 16 counted from there.
struct Columns {
  int64_t start = 0, first = 0, last = 0;
  // Those of a range of keys.
  KeyRange of(const KeyRange& keys) const {
    KeyRange r = {std::clamp(keys.begin - start, first, last), std::clamp(keys.end - start, first, last)};
    return r.empty() ? KeyRange{first, first} : r;
  }
};

// s = softcap · tanh(…); slope, if wanted, gets the derivative 1 − tanh².
HWY_INLINE void cap_row(float softcap, const Columns& c, float* s, float* slope) {
  const F d;
  const V cap = hn::Set(d, softcap), one = hn::Set(d, 1.0f);
  for (int64_t j = c.first; j < c.last; j += lanes) {
    const V t = tanh_of_exponent(d, hn::LoadU(d, s + j));
    hn::StoreU(hn::Mul(cap, t), d, s + j);
    if (slope) hn::StoreU(hn::NegMulAdd(t, t, one), d, slope + j);
  }
}

// Adds the biases and puts −∞ where the explicit mask says so, for columns [begin, end).
HWY_INLINE void bias_row(const Attention& a, const Row& row, int64_t start, const KeyRange& r, float* s) {
  float stage[most_block];
  auto at = [&](const auto& g) {
    return g.data + row.sequence * g.batch + row.head * g.head + row.query * g.query + start * g.key;
  };
  if (a.line.data) {
    const float* line = a.line.data + row.head * a.line.head + a.line.offset + start - (row.query + row.shift);
    for (int64_t j = r.begin; j < r.end; ++j) stage[j] = line[j];
  } else {
    for (int64_t j = r.begin; j < r.end; ++j) stage[j] = 0;
  }
  if (a.bias.data) {
    const float* bias = at(a.bias);
    if (a.bias.key == 1) {
      for (int64_t j = r.begin; j < r.end; ++j) stage[j] += bias[j];
    } else {
      for (int64_t j = r.begin; j < r.end; ++j) stage[j] += bias[j * a.bias.key];
    }
  }
  if (a.mask.data) {
    const uint8_t* mask = at(a.mask);
    if (a.mask.key == 1) {
      for (int64_t j = r.begin; j < r.end; ++j) stage[j] = mask[j] ? stage[j] : minus_infinity;
    } else {
      for (int64_t j = r.begin; j < r.end; ++j) stage[j] = mask[j * a.mask.key] ? stage[j] : minus_infinity;
    }
  }
  for (int64_t j = r.begin; j < r.end; ++j) {
    float sum = s[j] + stage[j];
    s[j] = stage[j] == minus_infinity ? minus_infinity : sum;
  }
}

// Puts −∞ into columns [begin, end), of which one is where a vector begins or ends.
HWY_INLINE void hide_columns(int64_t begin, int64_t end, float* s) {
  const F d;
  const V hidden = hn::Set(d, minus_infinity);
  int64_t j = begin / lanes * lanes;
  if (j < begin) {
    hn::StoreU(hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(begin - j)), hn::LoadU(d, s + j), hidden), d, s + j);
    j += lanes;
  }
  for (; j + lanes <= end; j += lanes) hn::StoreU(hidden, d, s + j);
  if (j < end)
    hn::StoreU(hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(end - j)), hidden, hn::LoadU(d, s + j)), d, s + j);
}

// From raw products to scores with every mask applied.
HWY_INLINE void finish_scores(const Attention& a, const Row& row, const Columns& c, float* s, float* slope) {
  if (a.softcap > 0) cap_row(a.softcap, c, s, slope);
  KeyRange r = c.of(row.seen);
  if (a.line.data || a.bias.data || a.mask.data) bias_row(a, row, c.start, r, s);
  if (c.first < r.begin) hide_columns(c.first, r.begin, s);
  if (r.end < c.last) hide_columns(r.end, c.last, s);
}

// A row's softmax so far: exponentials are relative to exp(maximum).
struct Running {
  float maximum = minus_infinity, sum = 0;
};

// exp(x − shift): the difference of two near numbers is exact, whatever their size, and only then multiplied by log2(e).
HWY_INLINE V shifted_exp(V x, V shift) {
  const F d;
  return exp2(d, hn::Mul(hn::Sub(x, shift), hn::Set(d, log2_e)));
}

HWY_INLINE float exp_one(float x) {
  const F d;
  return hn::GetLane(shifted_exp(hn::Set(d, x), hn::Zero(d)));
}

// A NaN score need not survive in the maximum: it survives in its own exponential.
HWY_INLINE float row_maximum(const Columns& c, const float* s) {
  const F d;
  V a = hn::Set(d, minus_infinity), b = a;
  int64_t j = c.first;
  for (; j + 2 * lanes <= c.last; j += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, s + j)), b = hn::Max(b, hn::LoadU(d, s + j + lanes));
  }
  for (; j < c.last; j += lanes) a = hn::Max(a, hn::LoadU(d, s + j));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

// Scores become exponentials by `exponentiate`, which gets what to subtract and returns their sums, a vector that add_sums() adds to
// the row's; `found` is their maximum. Returns what the row's earlier sums are to be multiplied by: 1 where they are zeros.
template <class Exponentiate>
HWY_INLINE float absorb(float found, Running& row, float* sums, const Exponentiate& exponentiate) {
  const F d;
  float before = row.maximum, maximum = found > before || found != found ? found : before;
  float base = maximum == minus_infinity ? 0 : maximum;
  hn::StoreU(exponentiate(hn::Set(d, base)), d, sums);
  float factor = before == maximum || before == minus_infinity ? 1 : exp_one(before - base);
  row = {maximum, row.sum * factor};
  return factor;
}

HWY_INLINE void add_sums(const float* sums, Running& row) {
  const F d;
  row.sum += hn::GetLane(hn::SumOfLanes(d, hn::LoadU(d, sums)));
}

HWY_INLINE float absorb_row(const Columns& c, float found, float* s, Running& row, float* sums) {
  return absorb(found, row, sums, [&](V shift) HWY_ATTR {
    const F d;
    V sum = hn::Zero(d);
    for (int64_t j = c.first; j < c.last; j += panel) {
      unroll<panel_vectors>([&](auto i) FOVEA_PASTE {
        const V p = shifted_exp(hn::LoadU(d, s + j + i * lanes), shift);
        sum = hn::Add(sum, p);
        hn::StoreU(p, d, s + j + i * lanes);
      });
    }
    return sum;
  });
}

// factor[j] = 1 / (1 − probability), or 0 where the weight is dropped.
HWY_INLINE void dropout_factors(const WeightDropout& dropout, const Row& row, const Columns& c, float* factor) {
  const F d;
  const hn::RebindToSigned<F> di;
  const WordTag dw;
  auto word_of = [&](int64_t n) HWY_ATTR { return hn::Set(dw, static_cast<uint32_t>(n)); };
  alignas(64) uint32_t words[4 * lanes];
  const V probability = hn::Set(d, dropout.probability), kept = hn::Set(d, 1 / (1 - dropout.probability));
  for (int64_t j = c.first; j < c.last; j += 4 * lanes) {
    const auto first = hn::Iota(dw, static_cast<uint32_t>((c.start + j) / 4));
    philox({first, word_of(row.query), word_of(row.head), word_of(row.sequence)}, dropout.key, words);
    for (int64_t i = 0; i < 4 * lanes && j + i < c.last; i += lanes) {
      const auto word = hn::ShiftRight<8>(hn::Load(dw, words + i));
      const V u = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, word)), hn::Set(d, 0x1p-24f));
      hn::StoreU(hn::IfThenZeroElse(hn::Lt(u, probability), kept), d, factor + j + i);
    }
  }
}

// s[j] = factor[j] == 0 ? 0 : s[j] · factor[j]: what was dropped is gone, be it a NaN.
HWY_INLINE void drop_row(const Columns& c, const float* factor, float* s) {
  const F d;
  for (int64_t j = c.first; j < c.last; j += lanes) {
    const V f = hn::LoadU(d, factor + j);
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(f, hn::Zero(d)), hn::Mul(hn::LoadU(d, s + j), f)), d, s + j);
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
