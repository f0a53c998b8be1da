#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/half.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_reference.h"
#include "fovea/kernels/every_simd.h"
#include "test_paths.h"

namespace fovea::kernels {
namespace {

const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

void expect_near(const std::vector<float>& found, const std::vector<double>& expected, double tolerance,
                 const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isinf(expected[i])) {
      ASSERT_EQ(found[i], expected[i]) << what << " " << i;
    } else {
      ASSERT_NEAR(found[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << what << " " << i;
    }
  }
}

void expect_reference(const AttentionCase& c) {
  ReferenceResult expected = reference(c, c.numbers);
  for_each_simd([&] {
    AttentionArrays arrays(c);
    ForwardArrays found(c.shape);
    if (!c.sequences.empty()) {  // tokens of no sequence stay as they are
      std::fill(found.out.begin(), found.out.end(), 0.0f);
      std::fill(found.sums.begin(), found.sums.end(), RowSum{});
    }
    attention_forward(arrays.call, found.result);
    expect_near(found.out, expected.out, 3e-6, "out");
    expect_near(found.lse(), expected.lse, 3e-6, "lse");
  });
}

AttentionCase a_case(int64_t queries = 37, int64_t keys = 301) {
  return AttentionCase(
      {.batch = 2, .queries = queries, .keys = keys, .heads = 4, .key_heads = 2, .width = 24, .value_width = 20});
}

TEST(AttentionForward, EqualsItsFormulaForOddSizes) {
  for (int64_t width : {1, 3, 17, 40, 64, 128}) {
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1}, {7, 17}, {33, 7}, {13, 257}, {101, 300}}) {
      SCOPED_TRACE(fmt::format("width {} queries {} keys {}", width, queries, keys));
      expect_reference(AttentionCase::of_width(width, queries, keys, 2));
    }
  }
}

TEST(AttentionForward, NothingToSeeGivesZeros) {
  expect_reference(a_case(5, 0));
  expect_reference(a_case(0, 5));
  AttentionCase c = a_case(40, 10);  // the first 30 queries come before the first key
  c.causal = true;
  expect_reference(c);
}

TEST(AttentionForward, CausalAndWindows) {
  for (bool causal : {false, true}) {
    for (int64_t left : {-1, 0, 5, 300}) {
      for (int64_t right : {-1, 0, 9}) {
        AttentionCase c = a_case(270, 290);
        c.shape.batch = 1;
        c.causal = causal, c.window_left = left, c.window_right = right;
        SCOPED_TRACE(fmt::format("causal {} left {} right {}", causal, left, right));
        expect_reference(c);
      }
    }
  }
}

TEST(AttentionForward, MaskBiasLineSoftcapSinkDropoutOneByOneAndTogether) {
  for (bool additive : {false, true}) {
    for (int features = 0; features < 64; ++features) {
      if (test_sanitized && std::popcount(unsigned(features)) > 1 && features != 63) continue;
      AttentionCase c = a_case(19, 277);
      if (additive) c.make_additive();
      c.add(features);
      c.causal = features % 3 == 0;
      SCOPED_TRACE(fmt::format("additive {} features {}", additive, features));
      expect_reference(c);
    }
  }
}

TEST(AttentionForward, PackedSequencesAndKeyLengths) {
  AttentionCase c({.batch = 2, .queries = 90, .keys = 600, .heads = 6, .key_heads = 2, .width = 16, .value_width = 32});
  c.sequences = {{0, 0, 3, 0, 300}, {0, 3, 70, 300, 17}, {1, 10, 0, 0, 5}, {1, 0, 64, 64, 500}, {1, 64, 1, 0, 64}};
  c.causal = true;
  expect_reference(c);
  c.causal = false;
  c.make_line();
  c.make_mask();
  expect_reference(c);
}

TEST(AttentionForward, SequencesWithOffsets) {
  AttentionCase c({.batch = 2, .queries = 90, .keys = 600, .heads = 6, .key_heads = 2, .width = 16, .value_width = 32});
  c.sequences = {{0, 0, 3, 0, 300, 299}, {0, 3, 70, 300, 17, 0}, {1, 0, 64, 64, 500, -30}, {1, 64, 9, 0, 64, 20}};
  c.reach = 700;
  c.numbers.line = AttentionCase::draw(6 * 1401, 12, 2);
  for (bool causal : {true, false}) {
    c.causal = causal;
    expect_reference(c);
    c.window_left = 40, c.window_right = 90;
  }
}

TEST(AttentionForward, BroadcastGridsAndStridedTokens) {
  AttentionCase c = a_case(9, 40);
  std::vector<double> column = AttentionCase::draw(40, 5, 3);
  c.numbers.bias.resize(c.grid_size());
  c.mask.resize(c.grid_size());
  for (int64_t i = 0; i < c.grid_size(); ++i) c.numbers.bias[i] = column[i % 40], c.mask[i] = i % 40 % 3 != 1;
  ReferenceResult expected = reference(c, c.numbers);
  for_each_simd([&] {
    AttentionArrays arrays(c);
    std::vector<float> twice(80);
    std::vector<uint8_t> sparse(120);
    for (int64_t j = 0; j < 40; ++j) twice[2 * j] = static_cast<float>(column[j]), sparse[3 * j] = j % 3 != 1;
    arrays.call.bias = {twice.data(), 0, 0, 0, 2};
    arrays.call.mask = {sparse.data(), 0, 0, 0, 3};
    ForwardArrays found(c.shape);
    attention_forward(arrays.call, found.result);
    expect_near(found.out, expected.out, 3e-6, "out");
  });
}

// The results of some queries, computed in any other company, have the same bits.
TEST(AttentionForward, SameBitsForAnyCompany) {
  for (bool additive : {false, true}) {
    AttentionCase c(
        {.batch = 3, .queries = 300, .keys = 300, .heads = 4, .key_heads = 2, .width = 20, .value_width = 24});
    c.causal = true, c.softcap = 5;
    if (additive) c.make_additive();
    c.make_line();
    c.make_sinks();
    for_each_simd([&] {
      AttentionArrays arrays(c);
      ForwardArrays all(c.shape);
      int before = threads();
      set_threads(1);
      attention_forward(arrays.call, all.result);
      set_threads(3);
      ForwardArrays threaded(c.shape);
      attention_forward(arrays.call, threaded.result);
      set_threads(before);
      EXPECT_EQ(all.out, threaded.out);
      EXPECT_EQ(all.lse(), threaded.lse());

      // Step by step with pages of any size: query i sees keys up to i, the pages hold no more.
      Pages pages(c, 16 << (additive ? 1 : 2));
      ForwardArrays steps(c.shape);
      for (int64_t i = 0; i < 300; ++i) {
        pages.write(arrays, i, i + 1);
        if (i % 7 != 0 && i != 299) continue;
        std::vector<SequenceSpan> one;
        for (int64_t b = 0; b < 3; ++b) one.push_back({b, i, 1, 0, i + 1});
        attention_forward(pages.call(arrays, one), steps.result);
        for (int64_t b = 0; b < 3; ++b) {
          int64_t row = (b * 300 + i) * 4 * 24;
          ASSERT_EQ(0, std::memcmp(&steps.out[row], &all.out[row], 4 * 24 * sizeof(float))) << b << " " << i;
          for (int64_t h = 0; h < 4; ++h) {
            const RowSum &one = steps.sums[(b * 4 + h) * 300 + i], &other = all.sums[(b * 4 + h) * 300 + i];
            ASSERT_EQ(std::pair(one.maximum, one.sum), std::pair(other.maximum, other.sum));
          }
        }
      }

      // All queries at once over pages of each size, and of a few tokens that were written in pieces.
      for (int64_t page : {16, 128, 256}) {
        Pages whole(c, page);
        for (int64_t t : {0, 3, 20, 52, 261})
          whole.write(arrays, t, t == 0 ? 3 : t == 3 ? 20 : t == 20 ? 52 : t == 52 ? 261 : 300);
        std::vector<SequenceSpan> rows;
        for (int64_t b = 0; b < 3; ++b) rows.push_back({b, 0, 300, 0, 300});
        ForwardArrays at_once(c.shape);
        attention_forward(whole.call(arrays, rows), at_once.result);
        EXPECT_EQ(at_once.out, all.out) << "pages of " << page;
        EXPECT_EQ(at_once.lse(), all.lse()) << "pages of " << page;
      }

      // A chunk of queries against more keys than they see.
      std::vector<SequenceSpan> chunk = {{1, 0, 41, 0, 41}};
      Attention call = arrays.call;
      call.sequences = chunk;
      ForwardArrays part(c.shape);
      attention_forward(call, part.result);
      EXPECT_EQ(0, std::memcmp(&part.out[300 * 96], &all.out[300 * 96], 41 * 96 * sizeof(float)));
    });
  }
}

// In f16: the bits of the attention in f32 over keys and values that were rounded before, by the bits of half.h.
TEST(AttentionForward, HalvesAreRoundedKeysAndValues) {
  for (int64_t queries : {1, 3, 5, 61}) {
    for (int64_t width : {17, 64}) {
      AttentionCase c(
          {.batch = 2, .queries = queries, .keys = 290, .heads = 6, .key_heads = 2, .width = width, .value_width = 20});
      c.causal = true;
      for_each_simd([&] {
        AttentionArrays arrays(c), rounded(c);
        for (std::vector<float>* x : {&rounded.k, &rounded.v})
          for (float& number : *x) number = float_of_half(half_of_float(number));
        ForwardArrays expected(c.shape), found(c.shape), paged(c.shape);
        attention_forward(rounded.call, expected.result);
        Attention call = arrays.call;
        call.precision = Precision::f16;
        attention_forward(call, found.result);
        EXPECT_EQ(found.out, expected.out);
        EXPECT_EQ(found.lse(), expected.lse());

        Pages pages(c, 64, Precision::f16);
        for (auto [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {3, 80}, {80, 289}, {289, 290}})
          pages.write(arrays, begin, end);
        std::vector<SequenceSpan> rows;
        for (int64_t b = 0; b < c.shape.batch; ++b) rows.push_back({b, 0, queries, 0, 290});
        attention_forward(pages.call(arrays, rows), paged.result);
        EXPECT_EQ(paged.out, expected.out);
        EXPECT_EQ(paged.lse(), expected.lse());
      });
    }
  }
}

TEST(AttentionForward, NaNBehindAMaskDoesNotLeak) {
  for (int64_t queries : {3, 60}) {
    AttentionCase c = a_case(queries, 290);
    c.make_mask();
    c.window_left = 100, c.window_right = 20;
    for (size_t i = 0; i < c.mask.size(); ++i) {
      if (i % 290 % 50 == 7) c.mask[i] = 0;
    }
    ReferenceResult expected = reference(c, c.numbers);
    for_each_simd([&] {
      AttentionArrays arrays(c);
      for (int64_t b = 0; b < 2; ++b) {
        for (int64_t j = 7; j < 290; j += 50) {
          std::fill_n(arrays.k.begin() + (b * 290 + j) * 48, 48, nan);
          std::fill_n(arrays.v.begin() + (b * 290 + j) * 40, 40, j % 100 == 7 ? infinity : nan);
        }
      }
      ForwardArrays found(c.shape), paged(c.shape);
      attention_forward(arrays.call, found.result);
      expect_near(found.out, expected.out, 3e-6, "out");
      Pages pages(c, 32);
      pages.write(arrays, 0, 290);
      attention_forward(pages.call(arrays, c.list()), paged.result);
      EXPECT_EQ(paged.out, found.out);
    });
  }
}

TEST(AttentionForward, NaNInSightStaysVisible) {
  AttentionCase c = a_case(50, 290);
  c.causal = true;
  for_each_simd([&] {
    for (bool in_key : {false, true}) {
      AttentionArrays arrays(c);
      (in_key ? arrays.k[250 * 48 + 1] : arrays.v[250 * 40 + 1]) = nan;  // batch 0, key head 0
      ForwardArrays found(c.shape);
      attention_forward(arrays.call, found.result);
      for (int64_t i = 0; i < 50; ++i) {
        bool sees = 250 <= i + 240;
        EXPECT_EQ(sees, std::isnan(found.out[i * 80 + 1])) << i;
        EXPECT_FALSE(std::isnan(found.out[i * 80 + 41])) << "key head 1 has no NaN";
      }
      if (in_key) continue;
      EXPECT_FALSE(std::isnan(found.sums[49].sum));
    }
    AttentionArrays arrays(c);
    arrays.q[0] = nan;
    ForwardArrays found(c.shape);
    attention_forward(arrays.call, found.result);
    EXPECT_TRUE(std::isnan(found.out[0]));
    EXPECT_FALSE(std::isnan(found.out[80]));
  });
}

TEST(AttentionForward, DropoutDropsTheGivenShare) {
  WeightDropout dropout{0.25f, 42};
  int64_t count = 0;
  for (int64_t j = 0; j < 4000; ++j) count += dropped(dropout, 3, 2, 1, j);
  EXPECT_NEAR(count, 1000, 120);
}

TEST(AttentionForward, BadCallsAreErrors) {
  AttentionCase c = a_case();
  c.shape.heads = 3;
  Attention call;
  call.shape = c.shape;
  ForwardArrays found(c.shape);
  EXPECT_THROW(attention_forward(call, found.result), Error);
  const AttentionCase fine = a_case();
  const AttentionArrays arrays(fine);
  Pages pages(fine, 16);
  Attention odd = pages.call(arrays, {});
  odd.pages.tokens = 24;
  ForwardArrays other(fine.shape);
  EXPECT_THROW(attention_forward(odd, other.result), Error);
  EXPECT_THROW(write_pages({.layout = pages.layout, .pieces = std::vector<PagePiece>{{nullptr, 9, 8}}}), Error);
}

TEST(AdditiveScores, EqualTheirFormula) {
  for (int64_t width : {1, 17, 64}) {
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1}, {7, 33}, {40, 100}, {3, 0}}) {
      std::vector<double> q = AttentionCase::draw(queries * width, 1, 6), k = AttentionCase::draw(keys * width, 2, 6),
                          v = AttentionCase::draw(width, 3, 2);
      std::vector<float> qf = floats(q), kf = floats(k), vf = floats(v);
      for_each_simd([&] {
        std::vector<float> s(queries * keys);
        additive_scores({.queries = queries,
                         .keys = keys,
                         .width = width,
                         .q = qf.data(),
                         .q_stride = width,
                         .k = kf.data(),
                         .k_stride = width,
                         .vector = vf.data(),
                         .scores = s.data(),
                         .row_stride = keys});
        for (int64_t i = 0; i < queries; ++i) {
          for (int64_t j = 0; j < keys; ++j) {
            double sum = 0;
            for (int64_t d = 0; d < width; ++d) sum += v[d] * std::tanh(q[i * width + d] + k[j * width + d]);
            ASSERT_NEAR(s[i * keys + j], sum, 1e-5);
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
