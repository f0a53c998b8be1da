#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_reference.h"
#include "fovea/kernels/every_simd.h"

namespace fovea::kernels {
namespace {

const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

const std::vector<Simd>& tiles() {
  static const std::vector<Simd> sets = [] {
    std::vector<Simd> all = emulated_simds();
    std::erase_if(all, [](Simd s) { return s != Simd::amx; });
    return all;
  }();
  return sets;
}

// To the nearest number of 8 bits, ties to even.
double rounded(float x) {
  int exponent;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

// What the products read: scale · q in one rounding, with the softcap's factor where there is one.
ReferenceNumbers rounded_numbers(const AttentionCase& c) {
  ReferenceNumbers n = c.numbers;
  const float factor = c.softcap > 0 ? c.scale * (2 * 1.44269504088896340736f / c.softcap) : c.scale;
  for (double& q : n.q) q = rounded(static_cast<float>(q) * factor) / factor;
  for (double& k : n.k) k = rounded(static_cast<float>(k));
  for (double& v : n.v) v = rounded(static_cast<float>(v));
  return n;
}

// Σ w |v| of each output: what the rounding of the weights is a part of, 2⁻⁸ at most.
std::vector<double> sizes(const AttentionCase& c, ReferenceNumbers n) {
  for (double& v : n.v) v = std::abs(v);
  return reference(c, n).out;
}

void expect_rounded_reference(const AttentionCase& c) {
  const ReferenceNumbers numbers = rounded_numbers(c);
  const ReferenceResult expected = reference(c, numbers);
  const std::vector<double> size = sizes(c, numbers);
  for_each_simd(
      [&] {
        AttentionArrays arrays(c);
        arrays.call.precision = Precision::bf16;
        ForwardArrays found(c.shape, 0);
        for (RowSum& sum : found.sums) sum = {};
        attention_forward(arrays.call, found.result);
        const std::vector<float> lse = found.lse();
        for (size_t i = 0; i < lse.size(); ++i) {
          if (std::isinf(expected.lse[i])) ASSERT_EQ(lse[i], expected.lse[i]) << i;
          if (std::isfinite(expected.lse[i]))
            ASSERT_NEAR(lse[i], expected.lse[i], 3e-6 * (1 + std::abs(expected.lse[i]))) << i;
        }
        for (size_t i = 0; i < found.out.size(); ++i)
          ASSERT_NEAR(found.out[i], expected.out[i], size[i] / 256 + 3e-6 * (1 + size[i])) << i;
      },
      tiles());
}

AttentionCase a_case(int64_t queries = 37, int64_t keys = 301) {
  return AttentionCase(
      {.batch = 2, .queries = queries, .keys = keys, .heads = 4, .key_heads = 2, .width = 24, .value_width = 20});
}

TEST(AttentionBf16, EqualsItsFormulaOfRoundedNumbersForOddSizes) {
  for (int64_t width : {1, 3, 17, 40, 64, 128}) {
    for (auto [queries, keys] :
         {std::pair<int64_t, int64_t>{1, 1}, {7, 17}, {16, 15}, {33, 7}, {13, 257}, {101, 300}}) {
      SCOPED_TRACE(fmt::format("width {} queries {} keys {}", width, queries, keys));
      expect_rounded_reference(AttentionCase::of_width(width, queries, keys, 2));
    }
  }
  expect_rounded_reference(a_case(5, 0));
  expect_rounded_reference(a_case(0, 5));
}

TEST(AttentionBf16, CausalAndWindows) {
  for (bool causal : {false, true}) {
    for (int64_t left : {-1, 0, 40}) {
      for (int64_t right : {-1, 9}) {
        AttentionCase c = a_case(270, 290);
        c.shape.batch = 1;
        c.causal = causal, c.window_left = left, c.window_right = right;
        SCOPED_TRACE(fmt::format("causal {} left {} right {}", causal, left, right));
        expect_rounded_reference(c);
      }
    }
  }
}

TEST(AttentionBf16, MaskBiasLineSoftcapSinkDropoutOneByOneAndTogether) {
  for (int features : {0, 1, 2, 4, 8, 16, 32, 3, 12, 48, 63}) {
    AttentionCase c = a_case(19, 277);
    c.add(features);
    c.causal = features % 3 == 0;
    SCOPED_TRACE(fmt::format("features {}", features));
    expect_rounded_reference(c);
  }
}

TEST(AttentionBf16, ManyKeys) {
  for (bool causal : {false, true}) {
    AttentionCase c(
        {.batch = 1, .queries = 40, .keys = 2200, .heads = 2, .key_heads = 1, .width = 24, .value_width = 20});
    c.causal = causal, c.window_left = causal ? 1300 : -1;
    expect_rounded_reference(c);
  }
}

TEST(AttentionBf16, PackedSequencesWithOffsets) {
  AttentionCase c({.batch = 2, .queries = 90, .keys = 600, .heads = 6, .key_heads = 2, .width = 16, .value_width = 32});
  c.sequences = {{0, 0, 3, 0, 300, 299}, {0, 3, 70, 300, 17, 0}, {1, 10, 0, 0, 5}, {1, 0, 64, 64, 500, -30}};
  c.causal = true;
  expect_rounded_reference(c);
}

// One row's output and sum, wherever they were computed.
void expect_same_row(const AttentionShape& s, const ForwardArrays& one, const ForwardArrays& other, int64_t b,
                     int64_t query) {
  const int64_t count = s.heads * s.value_width, at = (b * s.queries + query) * count;
  ASSERT_EQ(0, std::memcmp(&one.out[at], &other.out[at], count * sizeof(float))) << b << " " << query;
  for (int64_t h = 0; h < s.heads; ++h) {
    const RowSum &x = one.sums[(b * s.heads + h) * s.queries + query],
                 &y = other.sums[(b * s.heads + h) * s.queries + query];
    ASSERT_EQ(std::pair(x.maximum, x.sum), std::pair(y.maximum, y.sum)) << b << " " << query;
  }
}

TEST(AttentionBf16, SameBitsForAnyCompany) {
  AttentionCase c(
      {.batch = 2, .queries = 1100, .keys = 1100, .heads = 4, .key_heads = 2, .width = 20, .value_width = 24});
  c.causal = true, c.softcap = 5;
  c.make_line();
  c.make_sinks();
  for_each_simd(
      [&] {
        AttentionArrays arrays(c);
        arrays.call.precision = Precision::bf16;
        ForwardArrays all(c.shape), threaded(c.shape), steps(c.shape), part(c.shape);
        const int before = threads();
        set_threads(1);
        attention_forward(arrays.call, all.result);
        set_threads(3);
        attention_forward(arrays.call, threaded.result);
        set_threads(before);
        EXPECT_EQ(all.out, threaded.out);
        EXPECT_EQ(all.lse(), threaded.lse());

        // Step by step: query i sees keys up to i, the pages hold no more.
        Pages pages(c, 16, Precision::bf16);
        for (int64_t i = 0; i < 1100; ++i) {
          pages.write(arrays, i, i + 1);
          if (i % (i < 300 ? 7 : 97) != 0 && i != 1099) continue;
          const std::vector<SequenceSpan> one = {{0, i, 1, 0, i + 1}, {1, i, 1, 0, i + 1}};
          attention_forward(pages.call(arrays, one), steps.result);
          for (int64_t b : {0, 1}) expect_same_row(c.shape, steps, all, b, i);
        }

        // All queries at once over pages of each size, written in pieces; and some of them.
        for (int64_t page : {16, 32, 256}) {
          Pages whole(c, page, Precision::bf16);
          for (auto [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {3, 20}, {20, 52}, {52, 261}, {261, 1100}})
            whole.write(arrays, begin, end);
          ForwardArrays at_once(c.shape);
          attention_forward(whole.call(arrays, c.list()), at_once.result);
          EXPECT_EQ(at_once.out, all.out) << "pages of " << page;
          EXPECT_EQ(at_once.lse(), all.lse()) << "pages of " << page;
          const std::vector<SequenceSpan> some = {{0, 40, 19, 0, 59}, {1, 1071, 5, 0, 1076}};
          attention_forward(whole.call(arrays, some), part.result);
          expect_same_row(c.shape, part, all, 1, 1075);
          expect_same_row(c.shape, part, all, 0, 47);
        }
        const std::vector<SequenceSpan> chunk = {{1, 0, 41, 0, 41}};
        arrays.call.sequences = chunk;
        attention_forward(arrays.call, part.result);
        for (int64_t i = 0; i < 41; ++i) expect_same_row(c.shape, part, all, 1, i);
      },
      tiles());
}

TEST(AttentionBf16, APageIsCopiedUpToItsFilledTokens) {
  const AttentionCase c = a_case(3, 50);
  for_each_simd(
      [&] {
        AttentionArrays arrays(c);
        Pages pages(c, 64, Precision::bf16);
        pages.write(arrays, 0, 50);
        Pages copies(c, 64, Precision::bf16);
        for (size_t i = 0; i < pages.pages.size(); ++i)
          copy_page(pages.layout, pages.pages[i], 50, const_cast<float*>(copies.pages[i]));
        ForwardArrays found(c.shape), copied(c.shape);
        attention_forward(pages.call(arrays, c.list()), found.result);
        attention_forward(copies.call(arrays, c.list()), copied.result);
        EXPECT_EQ(found.out, copied.out);
      },
      tiles());
}

TEST(AttentionBf16, NaNBehindAMaskDoesNotLeakNorChangeABit) {
  for (int64_t queries : {3, 60}) {
    AttentionCase c = a_case(queries, 290);
    c.make_mask();
    c.window_left = 100, c.window_right = 20;
    for (size_t i = 0; i < c.mask.size(); ++i) {
      if (i % 290 % 50 == 7) c.mask[i] = 0;
    }
    for_each_simd(
        [&] {
          AttentionArrays plain(c), arrays(c);
          plain.call.precision = arrays.call.precision = Precision::bf16;
          for (int64_t b = 0; b < 2; ++b) {
            for (int64_t j = 7; j < 290; j += 50) {
              std::fill_n(arrays.k.begin() + (b * 290 + j) * 48, 48, nan);
              std::fill_n(arrays.v.begin() + (b * 290 + j) * 40, 40, j % 100 == 7 ? infinity : nan);
            }
          }
          ForwardArrays expected(c.shape), found(c.shape), paged(c.shape);
          attention_forward(plain.call, expected.result);
          attention_forward(arrays.call, found.result);
          EXPECT_EQ(expected.out, found.out);
          Pages pages(c, 32, Precision::bf16);
          pages.write(arrays, 0, 290);
          attention_forward(pages.call(arrays, c.list()), paged.result);
          EXPECT_EQ(paged.out, found.out);
        },
        tiles());
  }
}

TEST(AttentionBf16, NaNInSightStaysVisible) {
  AttentionCase c = a_case(50, 290);
  c.causal = true;
  const float odd[] = {nan, infinity, std::bit_cast<float>(0x7fffffffu)};
  for_each_simd(
      [&] {
        for (float number : odd) {
          for (bool in_key : {false, true}) {
            if (in_key && std::isinf(number)) continue;
            AttentionArrays arrays(c);
            arrays.call.precision = Precision::bf16;
            (in_key ? arrays.k[250 * 48 + 1] : arrays.v[250 * 40 + 1]) = number;  // batch 0, key head 0
            ForwardArrays found(c.shape);
            attention_forward(arrays.call, found.result);
            for (int64_t i = 0; i < 50; ++i) {
              EXPECT_EQ(250 <= i + 240, !std::isfinite(found.out[i * 80 + 1])) << i;
              EXPECT_TRUE(std::isfinite(found.out[i * 80 + 41])) << "key head 1 has only numbers";
              if (!in_key) EXPECT_TRUE(std::isfinite(found.out[i * 80]) && std::isfinite(found.sums[i].sum));
            }
          }
        }
        AttentionArrays arrays(c);
        arrays.call.precision = Precision::bf16;
        arrays.q[0] = nan;
        ForwardArrays found(c.shape);
        attention_forward(arrays.call, found.result);
        EXPECT_TRUE(std::isnan(found.out[0]));
        EXPECT_FALSE(std::isnan(found.out[80]));
      },
      tiles());
}

TEST(AttentionBf16, ProbesSeeExactWeightsAndChangeNothing) {
  AttentionCase c = a_case(70, 1290);
  c.causal = true;
  const ReferenceResult expected = reference(c, rounded_numbers(c));
  for_each_simd(
      [&] {
        AttentionArrays arrays(c);
        arrays.call.precision = Precision::bf16;
        const std::vector<int64_t> heads = {2};
        std::vector<float> weights(2 * 70 * 1290);
        ForwardArrays found(c.shape), unseen(c.shape);
        attention_forward(arrays.call, found.result,
                          {.heads = heads, .row_end = 70, .key_end = 1290, .weights = weights.data()});
        attention_forward(arrays.call, unseen.result);
        EXPECT_EQ(found.out, unseen.out);
        for (int64_t b = 0; b < 2; ++b) {
          for (int64_t i = 0; i < 70 * 1290; ++i)
            ASSERT_NEAR(weights[b * 70 * 1290 + i], expected.weights[c.grid(b, 2, 0, 0) + i], 3e-6);
        }
      },
      tiles());
}

TEST(AttentionBf16, IsF32ElsewhereAndForAdditiveScores) {
  for (bool additive : {false, true}) {
    AttentionCase c = a_case();
    if (additive) c.make_additive();
    for_each_simd(
        [&] {
          if (simd() == Simd::amx && !additive) return;
          AttentionArrays arrays(c);
          ForwardArrays plain(c.shape), found(c.shape);
          attention_forward(arrays.call, plain.result);
          arrays.call.precision = Precision::bf16;
          attention_forward(arrays.call, found.result);
          EXPECT_EQ(found.out, plain.out);
          Pages pages(c, 16, Precision::bf16);
          if (!additive) pages.write(arrays, 0, 301);
          EXPECT_THROW(attention_forward(pages.call(arrays, c.list()), found.result), Error);
          if (additive) EXPECT_THROW(pages.write(arrays, 0, 301), Error);
        },
        emulated_simds());
  }
}

}  // namespace
}  // namespace fovea::kernels
