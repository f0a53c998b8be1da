// Numbers rounded for one instruction set: x ≈ scale · X. Those of weights to −127 … 127, X = round(x · (127 / max |x|)), ties to
// even; those of the rows that meet int8 weights by max (|x0| + |x1|, |x2| + |x3| …) and 126: so |X0| + |X1| ≤ 127.
//
//   const Rounding r = rounding_of(x, depth);           // r.scale is NaN where x has a NaN or an infinity
//   round_to_bytes(x, depth, r, bytes);
#if defined(FOVEA_KERNELS_ROUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ROUND_INL_H_
#undef FOVEA_KERNELS_ROUND_INL_H_
#else
#define FOVEA_KERNELS_ROUND_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct Rounding {
  float scale, inverse;  // an inverse of 0 makes zeros
};

// The bits of numbers without a sign are ordered as they are, and those of infinities and NaNs come last.
inline Rounding rounding_to(uint32_t largest_bits, float most) {
  const float largest = std::bit_cast<float>(largest_bits);
  if (largest_bits >= 0x7f800000u) return {std::numeric_limits<float>::quiet_NaN(), 0};
  if (largest < 1e-30f) return {0, 0};  // most / largest might be infinite
  return {largest / most, most / largest};
}

inline Rounding rounding_of(const float* x, int64_t count) {
  uint32_t most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu);
  return rounding_to(most, 127);
}

// By half of (|x0| + |x1|), which is finite where x is.
inline Rounding rounding_of_pairs(const float* x, int64_t count) {
#if HWY_TARGET == HWY_SCALAR
  uint32_t most = 0;
  for (int64_t i = 0; i < count; i += 2) {
    const float half = 0.5f * std::abs(x[i]) + (i + 1 < count ? 0.5f * std::abs(x[i + 1]) : 0.0f);
    most = std::max(most, std::bit_cast<uint32_t>(half));
  }
#else
  const RowTag d;
  const hn::RebindToSigned<RowTag> whole;
  const RowVector half = hn::Set(d, 0.5f);
  auto bits = hn::Zero(whole);
  for_each_vector(count, [&](int64_t i, auto part) HWY_ATTR {
    const RowVector size = hn::Mul(hn::Abs(part.load(x + i)), half);
    bits = hn::Max(bits, hn::BitCast(whole, hn::Abs(hn::Add(size, hn::Shuffle2301(size)))));
  });
  const auto most = static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(whole, bits)));
#endif
  return rounding_to(most, 63);
}

// Adding 1.5 · 2²³ leaves the rounded number in the lower bits, the same on every instruction set.
HWY_INLINE int32_t rounded(float x, float inverse) {
  return std::bit_cast<int32_t>(x * inverse + 12582912.0f) - 0x4b400000;
}

// As bytes; the last four is filled with zeros.
inline void round_to_bytes(const float* x, int64_t count, const Rounding& r, int8_t* to) {
  const int64_t all = (count + 3) / 4 * 4;
  std::fill_n(to, all, int8_t{0});
  if (r.inverse == 0) return;
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int8_t>(rounded(x[i], r.inverse));
}

// The same, and the sum of them all.
inline int32_t round_and_add(const float* x, int64_t count, const Rounding& r, int8_t* to) {
  const int64_t all = (count + 3) / 4 * 4;
  if (r.inverse == 0) {
    std::fill_n(to, all, int8_t{0});
    return 0;
  }
  const RowTag d;
  const hn::RebindToSigned<RowTag> whole;
  const hn::Rebind<int8_t, RowTag> bytes;
  const RowVector inverse = hn::Set(d, r.inverse), magic = hn::Set(d, 12582912.0f);
  auto sums = hn::Zero(whole);
  const auto next = [&](int64_t at) HWY_ATTR {
    const RowVector shifted = hn::Add(hn::Mul(hn::LoadU(d, x + at), inverse), magic);
    const auto numbers = hn::Sub(hn::BitCast(whole, shifted), hn::Set(whole, 0x4b400000));
    sums = hn::Add(sums, numbers);
    return numbers;
  };
  int64_t i = 0;
#if HWY_TARGET == HWY_AVX3
  // Packing takes four vectors to one, 128 bits at a time, and leaves the fours of each vector 16 bytes apart.
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  for (; i + 64 <= count; i += 64) {
    const __m512i low = _mm512_packs_epi32(next(i).raw, next(i + 16).raw);
    const __m512i high = _mm512_packs_epi32(next(i + 32).raw, next(i + 48).raw);
    _mm512_storeu_si512(to + i, _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high)));
  }
#endif
  for (const int64_t lanes = row_lanes(); i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(bytes, next(i)), bytes, to + i);
  int32_t sum = hn::GetLane(hn::SumOfLanes(whole, sums));
  for (; i < all; ++i) {
    const int32_t number = i < count ? rounded(x[i], r.inverse) : 0;
    to[i] = static_cast<int8_t>(number), sum += number;
  }
  return sum;
}

// To bf16, ties to even; a NaN stays one. The upper half of each result is the number; what the lower half holds is of no use.
HWY_INLINE uint32_t bf16_above(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
}

HWY_INLINE hn::Vec<hn::RebindToUnsigned<RowTag>> bf16_above(RowVector x) {
  const hn::RebindToUnsigned<RowTag> d;
  const hn::RebindToSigned<RowTag> whole;
  const auto bits = hn::BitCast(d, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1u));
  const auto up = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fffu)));
  const auto size = hn::BitCast(whole, hn::And(bits, hn::Set(d, 0x7fffffffu)));
  const auto is_nan = hn::RebindMask(d, hn::Gt(size, hn::Set(whole, 0x7f800000)));
  return hn::IfThenElse(is_nan, hn::Or(bits, hn::Set(d, 0x400000u)), up);
}

// A row as bf16. An odd count is filled with a zero.
inline void round_to_bf16(const float* x, int64_t count, std::byte* to) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::RebindToSigned<RowTag> whole;
  const hn::Rebind<uint16_t, RowTag> halves;
  for (const int64_t lanes = row_lanes(); i + lanes <= count; i += lanes) {
    const auto upper = hn::BitCast(whole, hn::ShiftRight<16>(bf16_above(hn::LoadU(RowTag(), x + i))));
    hn::StoreU(hn::DemoteTo(halves, upper), halves, reinterpret_cast<uint16_t*>(to) + i);
  }
#endif
  for (; i < count; ++i) {
    const auto half = static_cast<uint16_t>(bf16_above(x[i]) >> 16);
    std::memcpy(to + 2 * i, &half, 2);
  }
  if (count % 2) std::memset(to + 2 * count, 0, 2);
}

// Two rows as words of bf16, the first one's numbers in the lower halves; without a second one zeros in the upper ones.
inline void round_pair_to_bf16(const float* first, const float* second, int64_t count, float* words) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const RowTag d;
  const hn::RebindToUnsigned<RowTag> bits;
  for (const int64_t lanes = row_lanes(); i + lanes <= count; i += lanes) {
    auto word = hn::ShiftRight<16>(bf16_above(hn::LoadU(d, first + i)));
    if (second) word = hn::Or(word, hn::And(bf16_above(hn::LoadU(d, second + i)), hn::Set(bits, 0xffff0000u)));
    hn::StoreU(hn::BitCast(d, word), d, words + i);
  }
#endif
  for (; i < count; ++i) {
    const uint32_t upper = second ? bf16_above(second[i]) & 0xffff0000u : 0;
    words[i] = std::bit_cast<float>(bf16_above(first[i]) >> 16 | upper);
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
