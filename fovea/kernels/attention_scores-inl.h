// What happens to a row of scores between the two products: softcap, biases, masks, the running softmax, dropout.
// Scores are in powers of two from here on: s · log2(e).
#if defined(FOVEA_KERNELS_ATTENTION_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#undef FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_SCORES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "fovea/base/random.h"
#include "fovea/kernels/attention_plan.h"
#include "fovea/kernels/attention_tiles-inl.h"
#include "fovea/kernels/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// A row of the score matrix: which one it is, and what causality and the window let it see.
struct Row {
  int64_t sequence = 0, head = 0, query = 0;
  int64_t shift = 0;  // keys − queries
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
  const V cap = hn::Set(d, softcap * log2_e), one = hn::Set(d, 1.0f);
  for (int64_t j = c.first; j < c.last; j += lanes) {
    const V t = tanh_of_exponent(d, hn::LoadU(d, s + j));
    hn::StoreU(hn::Mul(cap, t), d, s + j);
    if (slope) hn::StoreU(hn::NegMulAdd(t, t, one), d, slope + j);
  }
}

// Adds the biases and puts −∞ where the explicit mask says so, for columns [begin, end).
HWY_INLINE void bias_row(const Attention& a, const Row& row, int64_t start, const KeyRange& r, float* s) {
  float stage[block_keys];
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
    float sum = s[j] + stage[j] * log2_e;
    s[j] = stage[j] == minus_infinity ? minus_infinity : sum;
  }
}

// From raw products to scores with every mask applied.
HWY_INLINE void finish_scores(const Attention& a, const Row& row, const Columns& c, float* s, float* slope) {
  if (a.softcap > 0) cap_row(a.softcap, c, s, slope);
  KeyRange r = c.of(row.seen);
  if (a.line.data || a.bias.data || a.mask.data) bias_row(a, row, c.start, r, s);
  for (int64_t j = c.first; j < r.begin; ++j) s[j] = minus_infinity;
  for (int64_t j = r.end; j < c.last; ++j) s[j] = minus_infinity;
}

// A row's softmax so far: exponentials are relative to 2^maximum.
struct Running {
  float maximum = minus_infinity, sum = 0;
};

HWY_INLINE float exp2_one(float x) {
  const F d;
  return hn::GetLane(exp2(d, hn::Set(d, x)));
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

// Scores become exponentials; `found` is their maximum. Returns what the row's earlier sums are to be multiplied by.
HWY_INLINE float absorb_row(const Columns& c, float found, float* s, Running& row) {
  const F d;
  float before = row.maximum, maximum = found > before || found != found ? found : before;
  float base = maximum == minus_infinity ? 0 : maximum;
  const V shift = hn::Set(d, base);
  V sum = hn::Zero(d);
  for (int64_t j = c.first; j < c.last; j += panel) {
    unroll<panel_vectors>([&](auto i) FOVEA_PASTE {
      const V p = exp2(d, hn::Sub(hn::LoadU(d, s + j + i * lanes), shift));
      sum = hn::Add(sum, p);
      hn::StoreU(p, d, s + j + i * lanes);
    });
  }
  float factor = before == maximum ? 1 : exp2_one(before - base);
  row = {maximum, row.sum * factor + hn::GetLane(hn::SumOfLanes(d, sum))};
  return factor;
}

// Words 4n … 4n + 3 of Philox4x32-10 (Salmon et al. 2011) for as many counters as there are lanes, side by side.
HWY_INLINE void philox_words(uint32_t first, const Row& row, uint64_t key, uint32_t* words) {
#if HWY_TARGET == HWY_SCALAR
  auto word = [](auto n) { return static_cast<uint32_t>(n); };
  auto block = philox({first, word(row.query), word(row.head), word(row.sequence)}, {word(key), word(key >> 32)});
  std::copy(block.begin(), block.end(), words);
#else
  const hn::RebindToUnsigned<F> d;
  const hn::RepartitionToWide<decltype(d)> wide_tag;
  using U = hn::Vec<decltype(d)>;
  auto product = [&](U x, uint32_t factor, U& high) FOVEA_PASTE {
    const U f = hn::Set(d, factor);
    const auto even = hn::MulEven(x, f);
    const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide_tag, x))), f);
    high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  };
  U c0 = hn::Iota(d, first), c1 = hn::Set(d, static_cast<uint32_t>(row.query));
  U c2 = hn::Set(d, static_cast<uint32_t>(row.head)), c3 = hn::Set(d, static_cast<uint32_t>(row.sequence));
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    U high0, high2;
    const U low0 = product(c0, 0xD2511F53, high0), low2 = product(c2, 0xCD9E8D57, high2);
    c0 = hn::Xor(hn::Xor(high2, c1), hn::Set(d, k0)), c1 = low2;
    c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1)), c3 = low0;
  }
  hn::StoreInterleaved4(c0, c1, c2, c3, d, words);
#endif
}

// factor[j] = 1 / (1 − probability), or 0 where the weight is dropped.
HWY_INLINE void dropout_factors(const Dropout& dropout, const Row& row, const Columns& c, float* factor) {
  const F d;
  const hn::RebindToSigned<F> di;
  alignas(64) uint32_t words[4 * lanes];
  const V probability = hn::Set(d, dropout.probability), kept = hn::Set(d, 1 / (1 - dropout.probability));
  for (int64_t j = c.first; j < c.last; j += 4 * lanes) {
    philox_words(static_cast<uint32_t>((c.start + j) / 4), row, dropout.key, words);
    for (int64_t i = 0; i < 4 * lanes && j + i < c.last; i += lanes) {
      const auto word = hn::ShiftRight<8>(hn::Load(hn::RebindToUnsigned<F>(), words + i));
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
