#include "fovea/kernels/peak.h"

#include "fovea/kernels/amx.h"
#include "fovea/kernels/unit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve independent chains hide the latency of two fused units; they are named, since an array would live in memory.
int64_t burst(int64_t rounds) {
  const hn::ScalableTag<float> d;
  const auto m = hn::Set(d, 0.999f), c = hn::Set(d, 0.001f);
  auto s0 = hn::Iota(d, 0), s1 = hn::Iota(d, 1), s2 = hn::Iota(d, 2), s3 = hn::Iota(d, 3);
  auto s4 = hn::Iota(d, 4), s5 = hn::Iota(d, 5), s6 = hn::Iota(d, 6), s7 = hn::Iota(d, 7);
  auto s8 = hn::Iota(d, 8), s9 = hn::Iota(d, 9), s10 = hn::Iota(d, 10), s11 = hn::Iota(d, 11);
  for (int64_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, m, c), s1 = hn::MulAdd(s1, m, c), s2 = hn::MulAdd(s2, m, c), s3 = hn::MulAdd(s3, m, c);
    s4 = hn::MulAdd(s4, m, c), s5 = hn::MulAdd(s5, m, c), s6 = hn::MulAdd(s6, m, c), s7 = hn::MulAdd(s7, m, c);
    s8 = hn::MulAdd(s8, m, c), s9 = hn::MulAdd(s9, m, c), s10 = hn::MulAdd(s10, m, c), s11 = hn::MulAdd(s11, m, c);
  }
  auto sum = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  sum = hn::Add(sum, hn::Add(hn::Add(s8, s9), hn::Add(s10, s11)));
  volatile float sink = hn::GetLane(hn::SumOfLanes(d, sum));
  (void)sink;
  return rounds * 12 * 2 * static_cast<int64_t>(hn::Lanes(d));
}

// Eight sums of two elements, loaded anew in each round, times four columns: additions take one cycle, so few chains are enough,
// and no product can be computed once and for all.
int64_t whole_number_burst(int64_t rounds) {
  constexpr auto chains = std::make_index_sequence<8>();
  constexpr int numbers = 4;  // of a row and of a column that meet in each lane
  alignas(64) int32_t start[4 * lanes];
  for (int i = 0; i < 4 * lanes; ++i) start[i] = i * 0x01010101;
  const float* words = reinterpret_cast<const float*>(start);
  Int8::Sum column[4];
  Int8::Sum sum[8];
  unroll(
      chains, [&]<size_t i>() __attribute__((always_inline)) {
        column[i / 2] = Int8::column<0>(words + i / 2 * lanes), sum[i] = Int8::element(words);
      });
  for (int64_t k = 0; k < rounds; ++k) {
    const float* again = anew(words);
    unroll(
        chains, [&]<size_t i>() __attribute__((always_inline)) {
          sum[i] = Int8::add(Int8::element(again + i / 4), column[i % 4], sum[i]);
        });
  }
  unroll(
      chains, [&]<size_t i>() __attribute__((always_inline)) { sum[0] = hn::Add(sum[0], sum[i]); });
  volatile int32_t sink = hn::GetLane(sum[0]);
  (void)sink;
  return rounds * 8 * 2 * numbers * lanes;
}

// Twelve sums, as such an instruction takes five cycles and there may be two in each.
template <class Format>
int64_t dot_product_burst(int64_t rounds, int64_t numbers) {
  using Sum = typename Format::Sum;
  constexpr auto chains = std::make_index_sequence<12>();
  alignas(64) int32_t start[lanes];
  for (int i = 0; i < lanes; ++i) start[i] = i * 0x01010101;
  const float* words = reinterpret_cast<const float*>(start);
  const Sum column = Format::template column<0>(words), element = Format::element(words);
  Sum sum[12];
  unroll(
      chains, [&]<size_t i>() __attribute__((always_inline)) { sum[i] = hn::Zero(hn::DFromV<Sum>()); });
  for (int64_t k = 0; k < rounds; ++k) {
    unroll(
        chains, [&]<size_t i>() __attribute__((always_inline)) { sum[i] = Format::add(element, column, sum[i]); });
  }
  unroll(
      chains, [&]<size_t i>() __attribute__((always_inline)) { sum[0] = hn::Add(sum[0], sum[i]); });
  volatile auto sink = hn::GetLane(sum[0]);
  (void)sink;
  return rounds * 12 * 2 * numbers * lanes;
}

int64_t int8_dot_burst(int64_t rounds) {
#if FOVEA_HAS_DOTS
  return dot_product_burst<Dots>(rounds, 4);
#else
  return whole_number_burst(rounds);
#endif
}

int64_t bf16_dot_burst(int64_t rounds) {
#if FOVEA_HAS_BF16_DOTS
  return dot_product_burst<Bf16Dots>(rounds, 2);
#else
  return burst(rounds);
#endif
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(burst);
HWY_EXPORT(whole_number_burst);
HWY_EXPORT(int8_dot_burst);
HWY_EXPORT(bf16_dot_burst);
int64_t fma_burst(int64_t rounds) { return HWY_DYNAMIC_DISPATCH(burst)(rounds); }
int64_t block_burst(int64_t rounds) {
  return unit_of_blocks(1) == Unit::vectors ? HWY_DYNAMIC_DISPATCH(whole_number_burst)(rounds)
                                            : HWY_DYNAMIC_DISPATCH(int8_dot_burst)(rounds);
}

int64_t int8_burst(int64_t rounds) {
  return unit_of(Precision::int8) == Unit::tiles ? amx_burst(true, rounds) : block_burst(rounds);
}

int64_t bf16_burst(int64_t rounds) {
  const Unit unit = unit_of(Precision::bf16);
  if (unit == Unit::tiles) return amx_burst(false, rounds);
  return unit == Unit::vectors ? fma_burst(rounds) : HWY_DYNAMIC_DISPATCH(bf16_dot_burst)(rounds);
}

}  // namespace fovea::kernels
#endif
