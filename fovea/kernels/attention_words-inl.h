// Numbers in bf16 as the tiles of amx.h take them: two to a word of 32 bits. Of 16 neighbours, word i holds numbers i and i + 8;
// which two share a word is ours to choose, and so it takes no shuffling.
//
//   queries    rows [⌈width / 32⌉ · 16] words, of numbers that are scaled already
//   keys       panels [⌈keys / 16⌉][⌈width / 32⌉ · 16][16] words: rows like those of queries, transposed
//   weights    rows [keys / 2] words, in place of the scores
//   values     half tiles [⌈value width / 16⌉][⌈keys / 16⌉][8][16] words: row i holds keys i and i + 8 of 16 columns
//
// Numbers are rounded to the nearest, ties to even; weights, which lie between 0 and 1, ties up. What is missing is zero.
#if defined(FOVEA_KERNELS_ATTENTION_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_WORDS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_WORDS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fovea/base/scratch.h"
#include "fovea/kernels/attention_panels-inl.h"
#include "fovea/kernels/attention_scores-inl.h"
#include "fovea/kernels/round-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t step_keys = 32;      // of a tile of values
constexpr int64_t half_tile = 8 * 16;  // words of 16 keys and 16 columns
constexpr int64_t tile_block = 1024;   // keys that are softened together: the more, the fewer maxima and sums
constexpr int64_t tile_stride = tile_block + 16;

using U = hn::RebindToUnsigned<F>;
using Bits = hn::Vec<U>;

// A NaN may be lost: it is in the sum of its row, too.
HWY_INLINE Bits round_weight(V x) {
  const U d;
  return hn::Add(hn::BitCast(d, x), hn::Set(d, 0x8000u));
}
HWY_INLINE V in_words(Bits low, Bits high) {
  const U d;
  return hn::BitCast(F(), hn::Or(hn::ShiftRight<16>(low), hn::And(high, hn::Set(d, 0xffff0000u))));
}

// 32 rounded numbers, `at(i)` being those from i on, into 16 words.
template <class At>
HWY_INLINE void store_words(const At& at, float* words) {
#if HWY_TARGET <= HWY_AVX3
  const U d;
  const Bits a = at(0), b = at(16);
  hn::StoreU(in_words(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a)), F(), words);
#else
  for (int64_t i = 0; i < 16; i += lanes) {
    const int64_t low = i + i / 8 * 8;
    hn::StoreU(in_words(at(low), at(low + 8)), F(), words + i);
  }
#endif
}

// A row of numbers; `padded` is room for its width up to a multiple of 32.
HWY_INLINE void row_in_words(const float* x, int64_t width, float factor, float* padded, float* words) {
  const F d;
  if (width % step_keys != 0) {
    std::fill(std::copy_n(x, width, padded), padded + round_up(width, step_keys), 0.0f);
    x = padded;
  }
  const V scale = hn::Set(d, factor);
  for (int64_t i = 0; i < width; i += step_keys) {
    store_words([&](int64_t j) HWY_ATTR { return bf16_above(hn::Mul(hn::LoadU(d, x + i + j), scale)); }, words + i / 2);
  }
}

// Up to 16 keys into a panel.
HWY_INLINE void pack_key_words(const float* k, int64_t stride, int64_t count, int64_t width, float* to) {
  Scratch scratch;
  const int64_t words = round_up(width, step_keys) / 2;
  float *rows = scratch.take<float>(panel * words), *padded = scratch.take<float>(2 * words);
  for (int64_t r = 0; r < count; ++r) row_in_words(k + r * stride, width, 1, padded, rows + r * words);
  pack_panel(rows, words, count, words, ScoreKind::dot, to);
}

// Up to 16 keys' values; from one 16 columns to the next are `column_stride` words.
HWY_INLINE void pack_value_words(const float* v, int64_t stride, int64_t count, int64_t width, float* to,
                                 int64_t column_stride) {
  const F d;
  for (int64_t c = 0; c < width; c += panel, to += column_stride) {
    const float* from = v + c;
    int64_t from_stride = stride;
    float whole[16 * 16];
    if (count < 16 || c + 16 > width) {
      std::fill(whole, whole + 16 * 16, 0.0f);
      for (int64_t j = 0; j < count; ++j) std::copy_n(from + j * stride, std::min(panel, width - c), whole + j * 16);
      from = whole, from_stride = 16;
    }
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t l = 0; l < 16; l += lanes) {
        const Bits low = bf16_above(hn::LoadU(d, from + i * from_stride + l));
        hn::StoreU(in_words(low, bf16_above(hn::LoadU(d, from + (i + 8) * from_stride + l))), d, to + i * 16 + l);
      }
    }
  }
}

// The values of one key, number `key` of its half tiles.
HWY_INLINE void write_value_words(const float* v, int64_t width, int64_t key, float* to, int64_t column_stride) {
  const F d;
  alignas(64) float rounded[16];
  for (int64_t c = 0; c < width; c += panel, to += column_stride) {
    const int64_t count = std::min(panel, width - c);
    std::fill(std::copy_n(v + c, count, rounded), rounded + 16, 0.0f);
    for (int64_t i = 0; i < 16; i += lanes)
      hn::Store(hn::BitCast(d, bf16_above(hn::Load(d, rounded + i))), d, rounded + i);
    for (int64_t i = 0; i < 16; ++i) {
      const auto half = static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded[i]) >> 16);
      std::memcpy(reinterpret_cast<std::byte*>(to + key % 8 * 16 + i) + key / 8 * 2, &half, 2);
    }
  }
}

// The first `count` keys of a half tile, zeros for the others.
HWY_INLINE void copy_half_tile(const float* from, int64_t count, float* to) {
  const F d;
  const U du;
  if (count <= 0) return std::fill(to, to + half_tile, 0.0f);
  for (int64_t i = 0; i < 8; ++i) {
    const Bits kept = hn::Set(du, (i < count ? 0xffffu : 0u) | (i + 8 < count ? 0xffff0000u : 0u));
    for (int64_t l = 0; l < 16; l += lanes) {
      const V words = hn::LoadU(d, from + i * 16 + l);
      hn::StoreU(hn::BitCast(d, hn::And(hn::BitCast(du, words), kept)), d, to + i * 16 + l);
    }
  }
}

// Those of both numbers of a word that are a NaN or an infinity have all bits of their half set.
HWY_INLINE Bits odd_halves(Bits words) {
  const U d;
  const auto is_odd = [&](Bits upper) HWY_ATTR {
    const Bits exponent = hn::And(upper, hn::Set(d, 0x7f800000u));
    return hn::VecFromMask(d, hn::Eq(exponent, hn::Set(d, 0x7f800000u)));
  };
  return hn::Or(hn::And(is_odd(words), hn::Set(d, 0xffff0000u)), hn::ShiftRight<16>(is_odd(hn::ShiftLeft<16>(words))));
}

HWY_INLINE bool has_odd_words(const float* words, int64_t count) {
  const U d;
  Bits any = hn::Zero(d);
  for (int64_t i = 0; i < count; i += lanes) any = hn::Or(any, odd_halves(hn::BitCast(d, hn::LoadU(F(), words + i))));
  return !hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

// Exponentials that stand as floats.
HWY_INLINE void weights_in_words(const Columns& c, float* s) {
  const F d;
  for (int64_t j = c.first; j < c.last; j += step_keys)
    store_words([&](int64_t i) HWY_ATTR { return round_weight(hn::LoadU(d, s + j + i)); }, s + j / 2);
}

// absorb_row() and weights_in_words() at once.
HWY_INLINE float absorb_row_in_words(const Columns& c, float found, float* s, Running& row, float* sums) {
  if constexpr (!wide) {
    const float factor = absorb_row(c, found, s, row, sums);
    weights_in_words(c, s);
    return factor;
  }
  return absorb(found, row, sums, [&](V shift) HWY_ATTR {
    const F d;
    V sum = hn::Zero(d);
    for (int64_t j = c.first; j < c.last; j += step_keys) {
      const V a = shifted_exp(hn::LoadU(d, s + j), shift), b = shifted_exp(hn::LoadU(d, s + j + 16), shift);
      sum = hn::Add(hn::Add(sum, a), b);
      store_words([&](int64_t i) HWY_ATTR { return round_weight(i == 0 ? a : b); }, s + j / 2);
    }
    return sum;
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
