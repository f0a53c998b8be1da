// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011) for as many counters as there are lanes: the words of
// fovea::philox.
//
//   philox({c0, c1, c2, c3}, key, words);             // words: 4 for each lane's counter, one counter after the other
#if defined(FOVEA_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_PHILOX_INL_H_
#undef FOVEA_KERNELS_PHILOX_INL_H_
#else
#define FOVEA_KERNELS_PHILOX_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<uint32_t>;
using WordVector = hn::Vec<WordTag>;

struct WideProduct {
  WordVector low, high;
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE WideProduct wide_product(WordVector x, uint32_t factor) {
  const WordTag d;
  const uint64_t product = uint64_t{hn::GetLane(x)} * factor;
  return {hn::Set(d, static_cast<uint32_t>(product)), hn::Set(d, static_cast<uint32_t>(product >> 32))};
}

HWY_INLINE void store_words(WordVector a, WordVector b, WordVector c, WordVector e, uint32_t* words) {
  words[0] = hn::GetLane(a), words[1] = hn::GetLane(b), words[2] = hn::GetLane(c), words[3] = hn::GetLane(e);
}
#else
// The 64-bit products of all lanes, as their halves.
HWY_INLINE WideProduct wide_product(WordVector x, uint32_t factor) {
  const WordTag d;
  const hn::RepartitionToWide<WordTag> wide;
  const WordVector f = hn::Set(d, factor);
  const auto even = hn::MulEven(x, f);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), f);
  return {hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even)),
          hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)))};
}

HWY_INLINE void store_words(WordVector a, WordVector b, WordVector c, WordVector e, uint32_t* words) {
  hn::StoreInterleaved4(a, b, c, e, WordTag(), words);
}
#endif

struct PhiloxCounter {
  WordVector c0, c1, c2, c3;
};

HWY_INLINE void philox(PhiloxCounter c, uint64_t key, uint32_t* words) {
  const WordTag d;
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    const WideProduct a = wide_product(c.c0, 0xD2511F53), b = wide_product(c.c2, 0xCD9E8D57);
    c = {hn::Xor(hn::Xor(b.high, c.c1), hn::Set(d, k0)), b.low, hn::Xor(hn::Xor(a.high, c.c3), hn::Set(d, k1)), a.low};
  }
  store_words(c.c0, c.c1, c.c2, c.c3, words);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
